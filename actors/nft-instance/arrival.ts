/**
 * An NFT that comes from another ledger: held without being there, then there at once, with its whole history. Its owner's
 * account comes in the same import and counts it there.
 */
import { type Answer, type Effect, refusal } from '../account/outcome.ts'
import {
  type ArrivalCommand,
  arrivalAnswer,
  type ArrivingInstance,
  type HoldArrivalCommand,
  isSameArrival,
  isSameRecord,
  type TakeArrivalCommand,
} from '../arrival.ts'
import { GENESIS } from '../audit-chain.ts'
import { invariant } from '../result.ts'
import type { InstanceState } from './state.ts'

export type InstanceArrivalCommand = ArrivalCommand<ArrivingInstance>
export type HoldInstance = HoldArrivalCommand<ArrivingInstance> & { readonly nftId: string }

/** What is answered without a step; undefined where something is to be done. */
export function judgeInstanceArrival(
  instance: InstanceState | null,
  command: InstanceArrivalCommand,
): Answer | undefined {
  const arrived = instance?.arrived
  const isHeld = instance?.arriving !== undefined
  if (command.type !== 'hold_arrival') {
    if (isHeld && arrived?.importId === command.importId) return undefined
    if (command.type === 'drop_arrival' || (!isHeld && arrived !== undefined)) return arrivalAnswer(command)
    return refusal('arrival_not_held', 'The import has no hold here.', 'import_id')
  }
  if (instance === null) return undefined
  if (arrived !== undefined && !isHeld && isSameRecord(arrived, command.from))
    return { kind: 'arrival', state: 'present' }
  if (arrived !== undefined && isHeld && isSameArrival(arrived, command.from)) return arrivalAnswer(command)
  return refusal('instance_exists', 'The class has, or had, an instance of this ID, and it is another.', 'instance_id')
}

export function heldInstance({ nftId: id, from, arrival, atMs }: HoldInstance): InstanceState {
  const { issuer, owner, metadata, mintedAtMs, acquiredAtMs, events } = arrival
  return {
    kind: 'instance',
    format: 1,
    id,
    version: 1,
    status: 'minting',
    issuer,
    owner,
    metadata,
    hold: null,
    events: 0,
    tip: GENESIS,
    arrived: { ...from, events: events.length },
    arriving: arrival,
    mintedAtMs,
    acquiredAtMs,
    lastTimeMs: atMs,
    dueAtMs: null,
  }
}

export function takenInstance(
  instance: InstanceState,
  { atMs }: TakeArrivalCommand,
): { readonly instance: InstanceState; readonly effects: readonly Effect[] } {
  const { arriving, ...state } = instance
  invariant(arriving !== undefined, `${instance.id} is taken, and was not held`)
  const { events, status } = arriving
  return {
    instance: {
      ...state,
      status,
      events: events.length,
      tip: events.at(-1)?.eventHash ?? GENESIS,
      version: instance.version + 1,
      lastTimeMs: Math.max(atMs, instance.lastTimeMs),
    },
    effects: events.map((event) => ({ kind: 'nft_event', nftId: instance.id, event })),
  }
}
