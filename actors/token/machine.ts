/** Transitions of a token; the arithmetic is in supply.ts and arrival.ts. */
import { ARRIVAL_ACTIONS, ARRIVAL_CREATIONS, ARRIVAL_GUARDS, authorizeArrival, NOT_HELD } from '../arrival.ts'
import { ABSENT, defineActor, JUDGED, type MachineDefinition, type Refusals } from '../define-actor.ts'
import { BASE_UNIT, parseQuantity } from '../money.ts'
import { registrationActions, registrationGuards } from '../registration.ts'
import {
  dropGrowth,
  EXISTS,
  hasArrived,
  holdArrival,
  holdGrowth,
  isGrownBy,
  isSameHold,
  judgeGrowth,
  takeArrival,
  takeGrowth,
} from './arrival.ts'
import type { RegisterTokenCommand, TokenCommand, TokenData, TokenState, TokenStatus } from './state.ts'
import { begin, changeSupply, holdSupply, register, registeredAnswer, revertLeg, settleLeg } from './supply.ts'
import { type Answer, refusal } from '../account/outcome.ts'

type IssuePrepared = Extract<TokenCommand, { readonly type: 'issue_prepared' }>

const GUARDS = {
  ...registrationGuards<RegisterTokenCommand, IssuePrepared>(),
  hasSupply: ({ initialSupply }: TokenData) => parseQuantity(initialSupply) !== 0n,
  isSameHold,
  ...ARRIVAL_GUARDS,
  isGrownBy,
  hasArrived,
}

const ACTIONS = {
  ...registrationActions<TokenData, RegisterTokenCommand, IssuePrepared>(
    registeredAnswer,
    (token, { tokenId, decimals, issuer, totalSupply }) =>
      token.tokenId === tokenId &&
      token.decimals === decimals &&
      token.issuer === issuer &&
      token.initialSupply === totalSupply,
  ),
  begin,
  changeSupply,
  holdSupply,
  settleLeg,
  revertLeg,
  takeArrival,
  ...ARRIVAL_ACTIONS,
  holdGrowth,
  takeGrowth,
  dropGrowth,
}

const CREATIONS = {
  register,
  holdArrival,
  ...ARRIVAL_CREATIONS,
}

const SUPPLY = {
  change_supply: { actions: 'changeSupply' },
  hold_supply: { actions: 'holdSupply' },
  settle_leg: { actions: 'settleLeg' },
  revert_leg: { actions: 'revertLeg' },
} as const

const tokenMachine = {
  guards: GUARDS,
  actions: ACTIONS,
  creations: CREATIONS,
  states: {
    absent: {
      on: {
        register_token: [JUDGED, { target: 'preparing', actions: 'register' }],
        hold_arrival: { target: 'preparing', actions: 'holdArrival' },
        drop_arrival: { actions: 'answerAbsent' },
      },
    },
    preparing: {
      on: {
        register_token: { guard: 'isRepeat', actions: 'defer' },
        issue_prepared: [
          { guard: 'isRefused', target: ABSENT, actions: 'giveUp' },
          { guard: 'hasSupply', target: 'crediting', actions: 'begin' },
          { target: 'active', actions: 'activate' },
        ],
        hold_arrival: { guard: 'isSameHold', actions: 'answerArrival' },
        take_arrival: { guard: 'isHeldBy', target: 'active', actions: 'takeArrival' },
        drop_arrival: [{ guard: 'isHeldBy', target: ABSENT, actions: 'forgetArrival' }, { actions: 'answerArrival' }],
      },
    },
    crediting: {
      on: {
        ...SUPPLY,
        register_token: { guard: 'isRepeat', actions: 'defer' },
        issue_credited: { target: 'active', actions: 'activate' },
        drop_arrival: { actions: 'answerArrival' },
      },
    },
    active: {
      on: {
        ...SUPPLY,
        register_token: { guard: 'isRepeat', actions: 'showRegistered' },
        hold_arrival: [JUDGED, { actions: 'holdGrowth' }],
        take_arrival: [
          { guard: 'isGrownBy', actions: 'takeGrowth' },
          { guard: 'hasArrived', actions: 'answerArrival' },
        ],
        drop_arrival: [{ guard: 'isGrownBy', actions: 'dropGrowth' }, { actions: 'answerArrival' }],
      },
    },
  },
} as const satisfies MachineDefinition<TokenData, TokenStatus, TokenCommand, unknown>

const TAKEN = { code: 'token_exists', detail: 'The symbol is taken.', field: 'symbol' } as const

const REFUSALS = {
  absent: { take_arrival: NOT_HELD },
  preparing: { register_token: TAKEN, hold_arrival: EXISTS, take_arrival: NOT_HELD },
  crediting: { register_token: TAKEN, hold_arrival: EXISTS, take_arrival: NOT_HELD },
  active: { register_token: TAKEN, take_arrival: NOT_HELD },
} as const satisfies Refusals<TokenState, TokenStatus, TokenCommand['type']>

function judge(token: TokenState | null, command: TokenCommand): Answer | undefined {
  if (command.type === 'hold_arrival' && token !== null) return judgeGrowth(token, command)
  if (command.type !== 'register_token' || command.tokenId.toUpperCase() !== BASE_UNIT) return undefined
  return refusal('token_exists', 'The symbol is reserved for the base unit of the ledger.', 'symbol')
}

export const tokenActor = defineActor<TokenState, TokenCommand, unknown>({
  kind: 'token',
  machine: tokenMachine,
  refusals: REFUSALS,
  authorize: authorizeArrival,
  judge,
})
