import type { KeySet, PublishedKey } from '../../client/index.ts'
import type { Finding } from './finding.ts'

/** Undefined for a text that is no key set. */
export function keySetIn(text: string): KeySet | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isKeySet =
      typeof value === 'object' &&
      value !== null &&
      'ledger_id' in value &&
      'keys' in value &&
      typeof value.ledger_id === 'string' &&
      Array.isArray(value.keys) &&
      value.keys.every(isKey)
    return isKeySet ? (value as KeySet) : undefined
  } catch {
    return undefined
  }
}

/** Whether the served keys are those of a copy. Later keys are fine; a missing or a changed one is not. */
export function keysFinding(served: KeySet, kept: KeySet): Finding {
  if (served.ledger_id !== kept.ledger_id) {
    return unsuitable('unproved', `The copy is of ledger ${kept.ledger_id}, and this is ledger ${served.ledger_id}.`)
  }
  if (kept.keys.length === 0) return unsuitable('unproved', 'The copy has no keys.')
  const twice = [served, kept].map(({ keys }) =>
    keys.find(({ kid }, at) => keys.findIndex((key) => key.kid === kid) !== at),
  )
  const double = twice.find((key) => key !== undefined)
  if (double !== undefined) return unsuitable('tampered', `Key ID ${double.kid} has more than one key.`)
  const wrong = kept.keys.find((key) => !served.keys.some((other) => isSame(key, other)))
  if (wrong !== undefined) return unsuitable('tampered', `Key ${wrong.kid} of the copy is missing or changed here.`)
  const added = served.keys.filter(({ kid }) => !kept.keys.some((key) => key.kid === kid))
  return {
    outcome: 'verified',
    proved: [`All ${kept.keys.length} keys of the copy are served unchanged.`],
    unproved: added.map(
      ({ kid, purpose }) => `That key ${kid} (${purpose}) is of this ledger: it is newer than the copy.`,
    ),
  }
}

/** True for a value with the members that are compared and shown. */
function isKey(value: unknown): value is PublishedKey {
  if (typeof value !== 'object' || value === null) return false
  const members: Readonly<Record<string, unknown>> = { ...value }
  return (
    ['kid', 'x', 'y', 'purpose'].every((name) => typeof members[name] === 'string') &&
    typeof members['nbf'] === 'number'
  )
}

/** A key of the copy may have ended or been revoked since. An end or a revocation in the copy is never withdrawn. */
function isSame(kept: PublishedKey, served: PublishedKey): boolean {
  const members = ['kty', 'crv', 'kid', 'x', 'y', 'purpose', 'nbf'] as const
  return (
    members.every((name) => kept[name] === served[name]) &&
    (kept.exp === undefined || kept.exp === served.exp) &&
    (kept.revoked === undefined || (served.revoked !== undefined && isSameRevocation(kept.revoked, served.revoked)))
  )
}

function isSameRevocation(
  kept: NonNullable<PublishedKey['revoked']>,
  served: NonNullable<PublishedKey['revoked']>,
): boolean {
  return JSON.stringify(kept) === JSON.stringify(served)
}

function unsuitable(outcome: Finding['outcome'], problem: string): Finding {
  return { outcome, problem, proved: [], unproved: [] }
}
