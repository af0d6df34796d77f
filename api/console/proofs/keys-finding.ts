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
      Array.isArray(value.keys)
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

function isSame(one: PublishedKey, other: PublishedKey): boolean {
  const members = ['kid', 'x', 'y', 'purpose', 'nbf'] as const
  return members.every((name) => one[name] === other[name])
}

function unsuitable(outcome: Finding['outcome'], problem: string): Finding {
  return { outcome, problem, proved: [], unproved: [] }
}
