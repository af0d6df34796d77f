/**
 * The life of an NFT: absent -> minting -> active <-> held -> burned; or absent again, when its owner would not have it.
 * The machine says which command is heard in which state; what it then does is in possession.ts.
 */
import { assign, setup, type SnapshotFrom } from 'xstate'
import type { Effect } from '../account/outcome.ts'
import { inertScope } from '../inert-scope.ts'
import { heldInstance, type HoldInstance, takenInstance } from './arrival.ts'
import {
  begin,
  burn,
  deliver,
  giveUp,
  handOver,
  hold,
  type InstanceCommand,
  keep,
  mint,
  move,
  refuseBurn,
  refuseHold,
  refuseMint,
  refuseMove,
  release,
  settleLeg,
  type Turned,
} from './possession.ts'
import type { InstanceState } from './state.ts'

export interface InstanceContext {
  readonly instance: InstanceState | null
  readonly effects: readonly Effect[]
}

interface Turn {
  readonly context: InstanceContext
  readonly event: InstanceCommand
}

type Named<Type extends InstanceCommand['type']> = Extract<InstanceCommand, { readonly type: Type }>

/** Lifts a step on an instance into a context; the machine's states see to it that it is there. */
function on<Command extends InstanceCommand>(step: (instance: InstanceState, command: Command) => Turned) {
  return ({ context, event }: Turn): InstanceContext =>
    context.instance === null ? context : step(context.instance, event as Command)
}

const setUp = setup({
  types: { context: {} as InstanceContext, events: {} as InstanceCommand },
  guards: {
    isRefused: ({ event }) => event.type === 'nft_received' && event.failure !== null,
    isOwners: ({ context, event }) => 'accountId' in event && context.instance?.owner === event.accountId,
    arrivesBurned: ({ context }) => context.instance?.arriving?.status === 'burned',
    burns: ({ context }) => context.instance?.hold?.toAccountId === null,
  },
  actions: {
    mint: assign(({ event }) => mint(event as Named<'mint_nft'>)),
    holdArrival: assign(({ event }) => ({ instance: heldInstance(event as HoldInstance), effects: [] })),
    takeArrival: assign(on<Named<'take_arrival'>>(takenInstance)),
    dropArrival: assign(() => ({ instance: null, effects: [] })),
    refuseMint: assign(on<Named<'mint_nft'>>(refuseMint)),
    giveUp: assign(on<Named<'nft_received'>>(giveUp)),
    begin: assign(on<Named<'nft_received'>>(begin)),
    move: assign(on<Named<'move_nft'>>(move)),
    refuseMove: assign(on<Named<'move_nft'>>(refuseMove)),
    burn: assign(on<Named<'burn_nft'>>(burn)),
    refuseBurn: assign(on<Named<'burn_nft'>>(refuseBurn)),
    hold: assign(on<Named<'hold_nft'>>(hold)),
    refuseHold: assign(on<Named<'hold_nft'>>(refuseHold)),
    release: assign(on<Named<'release_nft'>>(release)),
    handOver: assign(on<Named<'nft_received'>>(handOver)),
    keep: assign(on<Named<'nft_received'>>(keep)),
    deliver: assign(on<Named<'deliver_nft'>>(deliver)),
    settleLeg: assign(on<Named<'settle_leg'>>(settleLeg)),
  },
})

/** Somebody else has it, or it is no more. */
const REFUSED = {
  mint_nft: { actions: 'refuseMint' },
  move_nft: { actions: 'refuseMove' },
  burn_nft: { actions: 'refuseBurn' },
  hold_nft: { actions: 'refuseHold' },
} as const

export const instanceMachine = setUp.createMachine({
  id: 'instance',
  context: { instance: null, effects: [] },
  initial: 'absent',
  states: {
    absent: {
      on: {
        mint_nft: { target: 'minting', actions: 'mint' },
        hold_arrival: { target: 'minting', actions: 'holdArrival' },
      },
    },
    minting: {
      on: {
        mint_nft: { actions: 'refuseMint' },
        nft_received: [
          { guard: 'isRefused', target: 'absent', actions: 'giveUp' },
          { target: 'active', actions: 'begin' },
        ],
        take_arrival: [
          { guard: 'arrivesBurned', target: 'burned', actions: 'takeArrival' },
          { target: 'active', actions: 'takeArrival' },
        ],
        drop_arrival: { target: 'absent', actions: 'dropArrival' },
      },
    },
    active: {
      on: {
        mint_nft: { actions: 'refuseMint' },
        move_nft: [{ guard: 'isOwners', target: 'held', actions: 'move' }, { actions: 'refuseMove' }],
        burn_nft: [{ guard: 'isOwners', target: 'burned', actions: 'burn' }, { actions: 'refuseBurn' }],
        hold_nft: [{ guard: 'isOwners', target: 'held', actions: 'hold' }, { actions: 'refuseHold' }],
      },
    },
    held: {
      on: {
        ...REFUSED,
        nft_received: [
          { guard: 'isRefused', target: 'active', actions: 'keep' },
          { target: 'active', actions: 'handOver' },
        ],
        release_nft: { target: 'active', actions: 'release' },
        deliver_nft: { target: 'active', actions: 'deliver' },
        settle_leg: [
          { guard: 'burns', target: 'burned', actions: 'settleLeg' },
          { target: 'active', actions: 'settleLeg' },
        ],
      },
    },
    burned: { on: REFUSED },
  },
})

export type InstanceSnapshot = SnapshotFrom<typeof instanceMachine>

const scope = inertScope(instanceMachine)

export function instanceSnapshotOf(instance: InstanceState | null): InstanceSnapshot {
  return instanceMachine.resolveState({ value: instance?.status ?? 'absent', context: { instance, effects: [] } })
}

/** The next snapshot; the very same object when no transition accepts the command. */
export function advanceInstance(snapshot: InstanceSnapshot, command: InstanceCommand): InstanceSnapshot {
  return instanceMachine.transition(snapshot, command, scope)
}
