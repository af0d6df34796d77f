/**
 * The life of a token: absent -> preparing (its issuer is asked) -> crediting (it exists, its supply is on the way) ->
 * active; or absent again, when the issuer does not agree. What a step does to the supply is arithmetic of supply.ts.
 */
import { assign, setup, type SnapshotFrom } from 'xstate'
import type { Effect } from '../account/outcome.ts'
import { inertScope } from '../inert-scope.ts'
import type { DropArrivalCommand, TakeArrivalCommand } from '../arrival.ts'
import { parseQuantity } from '../money.ts'
import { dropGrowth, holdArrival, holdGrowth, takeArrival, takeGrowth } from './arrival.ts'
import type { HoldToken, RegisterTokenCommand, TokenCommand } from './commands.ts'
import type { TokenState } from './state.ts'
import {
  activate,
  begin,
  changeSupply,
  giveUp,
  holdSupply,
  register,
  revertLeg,
  settleLeg,
  type Turned,
} from './supply.ts'

export interface TokenContext {
  readonly token: TokenState | null
  readonly effects: readonly Effect[]
}

type Named<Type extends TokenCommand['type']> = Extract<TokenCommand, { readonly type: Type }>

function on<Command extends TokenCommand>(step: (token: TokenState, command: Command) => Turned) {
  return ({ context, event }: { readonly context: TokenContext; readonly event: TokenCommand }): TokenContext =>
    context.token === null ? context : step(context.token, event as Command)
}

const setUp = setup({
  types: { context: {} as TokenContext, events: {} as TokenCommand },
  guards: {
    isRefused: ({ event }) => event.type === 'issue_prepared' && event.refused !== null,
    hasSupply: ({ context }) => context.token !== null && !parseQuantity(context.token.initialSupply).isZero(),
  },
  actions: {
    register: assign(({ event }) => register(event as RegisterTokenCommand)),
    holdArrival: assign(({ event }) => holdArrival(event as HoldToken)),
    takeArrival: assign(on<TakeArrivalCommand>(takeArrival)),
    holdGrowth: assign(on<HoldToken>(holdGrowth)),
    takeGrowth: assign(on<TakeArrivalCommand>(takeGrowth)),
    dropGrowth: assign(on<DropArrivalCommand>(dropGrowth)),
    dropArrival: assign(() => ({ token: null, effects: [] })),
    giveUp: assign(on<Named<'issue_prepared'>>(giveUp)),
    begin: assign(on(begin)),
    activate: assign(on(activate)),
    changeSupply: assign(on<Named<'change_supply'>>(changeSupply)),
    holdSupply: assign(on<Named<'hold_supply'>>(holdSupply)),
    settleLeg: assign(on<Named<'settle_leg'>>(settleLeg)),
    revertLeg: assign(on<Named<'revert_leg'>>(revertLeg)),
  },
})

const SUPPLY = {
  change_supply: { actions: 'changeSupply' },
  hold_supply: { actions: 'holdSupply' },
  settle_leg: { actions: 'settleLeg' },
  revert_leg: { actions: 'revertLeg' },
} as const

export const tokenMachine = setUp.createMachine({
  id: 'token',
  context: { token: null, effects: [] },
  initial: 'absent',
  states: {
    absent: {
      on: {
        register_token: { target: 'preparing', actions: 'register' },
        hold_arrival: { target: 'preparing', actions: 'holdArrival' },
      },
    },
    preparing: {
      on: {
        issue_prepared: [
          { guard: 'isRefused', target: 'absent', actions: 'giveUp' },
          { guard: 'hasSupply', target: 'crediting', actions: 'begin' },
          { target: 'active', actions: 'activate' },
        ],
        take_arrival: { target: 'active', actions: 'takeArrival' },
        drop_arrival: { target: 'absent', actions: 'dropArrival' },
      },
    },
    crediting: { on: { ...SUPPLY, issue_credited: { target: 'active', actions: 'activate' } } },
    active: {
      on: {
        ...SUPPLY,
        hold_arrival: { actions: 'holdGrowth' },
        take_arrival: { actions: 'takeGrowth' },
        drop_arrival: { actions: 'dropGrowth' },
      },
    },
  },
})

export type TokenSnapshot = SnapshotFrom<typeof tokenMachine>

const scope = inertScope(tokenMachine)

export function tokenSnapshotOf(token: TokenState | null): TokenSnapshot {
  return tokenMachine.resolveState({ value: token?.status ?? 'absent', context: { token, effects: [] } })
}

/** The next snapshot; the very same object when no transition accepts the command. */
export function advanceToken(snapshot: TokenSnapshot, command: TokenCommand): TokenSnapshot {
  return tokenMachine.transition(snapshot, command, scope)
}
