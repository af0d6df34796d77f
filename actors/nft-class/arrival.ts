/** Import of an NFT class from another ledger, under its own ID. */
import { arrivalAnswer } from '../arrival.ts'
import { canonicalJson } from '../canonical-json.ts'
import type { Change } from '../define-actor.ts'
import { type ClassData, type HoldClass, newClass } from './state.ts'

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
  const { from, arrival } = command
  const data = { ...newClass(arrival, command, `import ${from.importId}`), arrived: from }
  return { data, answer: arrivalAnswer(command) }
}
