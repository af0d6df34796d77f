/**
 * Import of an NFT from another ledger, with its history. Its owner's account is in the same import, and counts the NFT
 * there.
 */
import type { Effect } from '../account/outcome.ts'
import { arrivalAnswer, isSameArrival, isSameRecord } from '../arrival.ts'
import { GENESIS } from '../audit-chain.ts'
import { type Change, written } from '../define-actor.ts'
import { invariant } from '../result.ts'
import { type InstanceCommandOf, type InstanceData, newInstance } from './state.ts'

export function isHeldBy(
  { arrived, arriving }: InstanceData,
  { importId }: InstanceCommandOf<'take_arrival' | 'drop_arrival'>,
): boolean {
  return arriving !== undefined && arrived?.importId === importId
}

export function isSameHold({ arrived, arriving }: InstanceData, { from }: InstanceCommandOf<'hold_arrival'>): boolean {
  return arriving !== undefined && arrived !== undefined && isSameArrival(arrived, from)
}

export function hasSameRecord({ arrived }: InstanceData, { from }: InstanceCommandOf<'hold_arrival'>): boolean {
  return arrived !== undefined && isSameRecord(arrived, from)
}

export function holdArrival(
  command: InstanceCommandOf<'hold_arrival'>,
  { id }: { readonly id: string },
): Change<InstanceData> {
  const { from, arrival } = command
  const arrived = { ...from, events: arrival.events.length }
  const data = { ...newInstance(id, arrival, command), arrived, arriving: arrival }
  return { data, answer: arrivalAnswer(command) }
}

export function takeArrival(instance: InstanceData, command: InstanceCommandOf<'take_arrival'>): Change<InstanceData> {
  const { arriving, ...rest } = instance
  invariant(arriving !== undefined, `${instance.id} is imported and was not staged`)
  const { events } = arriving
  const history = { events: events.length, tip: events.at(-1)?.eventHash ?? GENESIS }
  const data: InstanceData = written(rest, command, history)
  const effects = events.map((event): Effect => ({ kind: 'nft_event', nftId: instance.id, event }))
  return { data, effects, answer: arrivalAnswer(command) }
}
