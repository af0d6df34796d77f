/**
 * Import of an NFT from another ledger, with its history. Its owner's account is in the same import, and counts the NFT
 * there.
 */
import type { Effect } from '../account/outcome.ts'
import { arrivalAnswer, isSameArrival, isSameRecord } from '../arrival.ts'
import { GENESIS } from '../audit-chain.ts'
import { type Change, written } from '../define-actor.ts'
import { invariant } from '../result.ts'
import type { InstanceArrivalCommand } from './commands.ts'
import { type InstanceData, newInstance } from './state.ts'

type Named<Type extends InstanceArrivalCommand['type']> = Extract<InstanceArrivalCommand, { readonly type: Type }>

export function isHeldBy(
  { arrived, arriving }: InstanceData,
  { importId }: Named<'take_arrival' | 'drop_arrival'>,
): boolean {
  return arriving !== undefined && arrived?.importId === importId
}

export function isSameHold({ arrived, arriving }: InstanceData, { from }: Named<'hold_arrival'>): boolean {
  return arriving !== undefined && arrived !== undefined && isSameArrival(arrived, from)
}

export function hasSameRecord({ arrived }: InstanceData, { from }: Named<'hold_arrival'>): boolean {
  return arrived !== undefined && isSameRecord(arrived, from)
}

export function holdArrival(command: Named<'hold_arrival'>, { id }: { readonly id: string }): Change<InstanceData> {
  const { from, arrival } = command
  const arrived = { ...from, events: arrival.events.length }
  const data = { ...newInstance(id, arrival, command), arrived, arriving: arrival }
  return { data, answer: arrivalAnswer(command) }
}

export function takeArrival(instance: InstanceData, command: Named<'take_arrival'>): Change<InstanceData> {
  const { arriving, ...rest } = instance
  invariant(arriving !== undefined, `${instance.id} is imported and was not staged`)
  const { events } = arriving
  const history = { events: events.length, tip: events.at(-1)?.eventHash ?? GENESIS }
  const data: InstanceData = written(rest, command, history)
  const effects = events.map((event): Effect => ({ kind: 'nft_event', nftId: instance.id, event }))
  return { data, effects, answer: arrivalAnswer(command) }
}
