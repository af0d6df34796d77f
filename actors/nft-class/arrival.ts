/** An NFT class that comes from another ledger: held without being there, then there at once, under the ID that it has. */
import { type Answer, refusal } from '../account/outcome.ts'
import { arrivalAnswer } from '../arrival.ts'
import { canonicalJson } from '../canonical-json.ts'
import type { ClassArrivalCommand, HoldClass } from './commands.ts'
import { type ClassState, foldedName } from './state.ts'

/** What is answered without a step; undefined where something is to be done. */
export function judgeClassArrival(nftClass: ClassState | null, command: ClassArrivalCommand): Answer | undefined {
  const isHeld = nftClass?.status === 'preparing' && nftClass.arrived !== undefined
  if (command.type !== 'hold_arrival') {
    if (isHeld && nftClass.arrived?.importId === command.importId) return undefined
    if (command.type === 'drop_arrival' || (!isHeld && nftClass?.arrived !== undefined)) return arrivalAnswer(command)
    return refusal('arrival_not_held', 'The import has no hold here.', 'import_id')
  }
  if (nftClass === null) return undefined
  const { from, arrival } = command
  const { classId, name, description, issuer, metadataSchema, arrived } = nftClass
  const isSame =
    arrived?.ledgerId === from.ledgerId &&
    canonicalJson({ classId, name, description, issuer, metadataSchema }) === canonicalJson({ ...arrival })
  if (isSame && !isHeld) return { kind: 'arrival', state: 'present' }
  if (isSame && arrived.importId === from.importId) return arrivalAnswer(command)
  return refusal('class_exists', 'There is such a class already, and it is another.', 'name')
}

export function heldClass({ from, arrival, caller, atMs }: HoldClass): ClassState {
  return {
    kind: 'class',
    format: 1,
    id: foldedName(arrival.name),
    version: 1,
    status: 'preparing',
    ...arrival,
    clientId: caller.clientId,
    registrationKey: `import ${from.importId}`,
    arrived: from,
    createdAtMs: atMs,
    lastTimeMs: atMs,
    dueAtMs: null,
  }
}
