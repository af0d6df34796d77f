/** Transitions of an NFT; the arithmetic is in possession.ts and arrival.ts. */
import { ARRIVAL_ACTIONS, ARRIVAL_CREATIONS, ARRIVAL_GUARDS, authorizeArrival, NOT_HELD } from '../arrival.ts'
import { ABSENT, defineActor, type MachineDefinition, type Refusals } from '../define-actor.ts'
import { hasSameRecord, holdArrival, isHeldBy, isSameHold, takeArrival } from './arrival.ts'
import {
  begin,
  burn,
  deliver,
  giveUp,
  handOver,
  hold,
  keep,
  mint,
  move,
  refuseBurn,
  refuseHold,
  refuseMint,
  refuseMove,
  release,
  settleLeg,
} from './possession.ts'
import type { InstanceCommand, InstanceCommandOf, InstanceData, InstanceState, InstanceStatus } from './state.ts'

const GUARDS = {
  ...ARRIVAL_GUARDS,
  isRefused: (_instance: InstanceData, { failure }: InstanceCommandOf<'nft_received'>) => failure !== null,
  isOwners: ({ owner }: InstanceData, { accountId }: InstanceCommandOf<'move_nft' | 'burn_nft' | 'hold_nft'>) =>
    owner === accountId,
  burns: ({ hold: held }: InstanceData) => held?.toAccountId === null,
  isHeldBy,
  arrivesBurned: (instance: InstanceData, command: InstanceCommandOf<'take_arrival'>) =>
    isHeldBy(instance, command) && instance.arriving?.status === 'burned',
  isSameHold,
  hasSameRecord,
}

const ACTIONS = {
  refuseMint,
  giveUp,
  begin,
  move,
  refuseMove,
  burn,
  refuseBurn,
  hold,
  refuseHold,
  release,
  handOver,
  keep,
  deliver,
  settleLeg,
  takeArrival,
  ...ARRIVAL_ACTIONS,
}

const CREATIONS = {
  mint,
  holdArrival,
  ...ARRIVAL_CREATIONS,
}

/** Replies to an import of an instance that exists. */
const PRESENT = {
  hold_arrival: { guard: 'hasSameRecord', actions: 'showPresent' },
  take_arrival: { guard: 'hasArrived', actions: 'answerArrival' },
  drop_arrival: { actions: 'answerArrival' },
} as const

/** Commands that a held or burned NFT refuses. */
const TAKEN = {
  mint_nft: { actions: 'refuseMint' },
  move_nft: { actions: 'refuseMove' },
  burn_nft: { actions: 'refuseBurn' },
  hold_nft: { actions: 'refuseHold' },
} as const

const instanceMachine = {
  guards: GUARDS,
  actions: ACTIONS,
  creations: CREATIONS,
  states: {
    absent: {
      on: {
        mint_nft: { target: 'minting', actions: 'mint' },
        hold_arrival: { target: 'minting', actions: 'holdArrival' },
        drop_arrival: { actions: 'answerAbsent' },
      },
    },
    minting: {
      on: {
        mint_nft: { actions: 'refuseMint' },
        nft_received: [
          { guard: 'isRefused', target: ABSENT, actions: 'giveUp' },
          { target: 'active', actions: 'begin' },
        ],
        hold_arrival: { guard: 'isSameHold', actions: 'answerArrival' },
        take_arrival: [
          { guard: 'arrivesBurned', target: 'burned', actions: 'takeArrival' },
          { guard: 'isHeldBy', target: 'active', actions: 'takeArrival' },
        ],
        drop_arrival: [{ guard: 'isHeldBy', target: ABSENT, actions: 'forgetArrival' }, { actions: 'answerArrival' }],
      },
    },
    active: {
      on: {
        ...PRESENT,
        mint_nft: { actions: 'refuseMint' },
        move_nft: [{ guard: 'isOwners', target: 'held', actions: 'move' }, { actions: 'refuseMove' }],
        burn_nft: [{ guard: 'isOwners', target: 'burned', actions: 'burn' }, { actions: 'refuseBurn' }],
        hold_nft: [{ guard: 'isOwners', target: 'held', actions: 'hold' }, { actions: 'refuseHold' }],
      },
    },
    held: {
      on: {
        ...PRESENT,
        ...TAKEN,
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
    burned: { on: { ...PRESENT, ...TAKEN } },
  },
} as const satisfies MachineDefinition<InstanceData, InstanceStatus, InstanceCommand, unknown>

const EXISTS = {
  code: 'instance_exists',
  detail: 'The class has, or had, a different instance with this ID.',
  field: 'instance_id',
} as const

const EXISTING = { hold_arrival: EXISTS, take_arrival: NOT_HELD } as const

const REFUSALS = {
  absent: { take_arrival: NOT_HELD },
  minting: EXISTING,
  active: EXISTING,
  held: EXISTING,
  burned: EXISTING,
} as const satisfies Refusals<InstanceState, InstanceStatus, InstanceCommand['type']>

export const instanceActor = defineActor<InstanceState, InstanceCommand, unknown>({
  kind: 'instance',
  machine: instanceMachine,
  refusals: REFUSALS,
  authorize: authorizeArrival,
})
