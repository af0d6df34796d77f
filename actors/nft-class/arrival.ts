/** An NFT class that comes from another ledger: held without being there, then there at once, under the ID that it has. */
import { arrivalAnswer } from '../arrival.ts'
import { canonicalJson } from '../canonical-json.ts'
import type { Change } from '../define-actor.ts'
import type { HoldClass } from './commands.ts'
import { type ClassData, foldedName } from './state.ts'

export function isSameHold(nftClass: ClassData, command: HoldClass): boolean {
  return isSameClass(nftClass, command) && nftClass.arrived?.importId === command.from.importId
}

export function isSameClass(nftClass: ClassData, { from, arrival }: HoldClass): boolean {
  const { classId, name, description, issuer, metadataSchema, arrived } = nftClass
  return (
    arrived?.ledgerId === from.ledgerId &&
    canonicalJson({ classId, name, description, issuer, metadataSchema }) === canonicalJson({ ...arrival })
  )
}

export function holdArrival(command: HoldClass): Change<ClassData> {
  const { from, arrival, caller, atMs } = command
  const data: ClassData = {
    kind: 'class',
    format: 1,
    id: foldedName(arrival.name),
    version: 1,
    ...arrival,
    clientId: caller.clientId,
    registrationKey: `import ${from.importId}`,
    arrived: from,
    createdAtMs: atMs,
    lastTimeMs: atMs,
    dueAtMs: null,
  }
  return { data, answer: arrivalAnswer(command) }
}
