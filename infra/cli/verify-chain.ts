/**
 * Checks an exported audit chain with nothing but SHA-256 (rules C1 and C2 of the audit chain):
 *   V1. Sequences run from 0 without a gap or a repeat.
 *   V2. Every audit_hash recomputes from the entry's previous_hash and its payload.
 *   V3. Every previous_hash is the audit_hash of the entry before; the first one's is 32 zero bytes.
 *   V4. The payload says the entry's own sequence and txn_id, and one account throughout.
 */
import { chainHash, GENESIS, showHash, type AuditEntry } from '../../actors/audit-chain.ts'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { parseStrictJson } from '../../api/json-text.ts'

export interface ChainProblem {
  /** Of the first entry that is not what it was. */
  readonly sequence: number
  readonly txnId: string | null
  readonly problem: string
}

export interface CheckedEntry extends AuditEntry {
  readonly fields: JsonObject
}

export interface CheckedChain {
  readonly accountId: string
  readonly entries: ReadonlyMap<number, CheckedEntry>
  /** The last entry's hash: what GET /v1/accounts/{id}/state shows as audit_hash. */
  readonly tip: string
}

export type ChainResult =
  | { readonly ok: true; readonly chain: CheckedChain }
  | { readonly ok: false; readonly problem: ChainProblem }

/** In any order: pages may be given as they come. At least one entry. */
export function verifyChain(given: readonly AuditEntry[]): ChainResult {
  const entries = withoutCopies([...given].sort((left, right) => left.sequence - right.sequence))
  const checked = new Map<number, CheckedEntry>()
  let previous: CheckedEntry | undefined
  for (const [position, entry] of entries.entries()) {
    const found = judge(entry, position, previous)
    if ('problem' in found) return { ok: false, problem: found }
    checked.set(entry.sequence, found)
    previous = found
  }
  const accountId = previous?.fields['account_id']
  return {
    ok: true,
    chain: {
      accountId: typeof accountId === 'string' ? accountId : '',
      entries: checked,
      tip: showHash(previous?.auditHash ?? GENESIS),
    },
  }
}

/** A page that was given twice is no harm. */
function withoutCopies(sorted: readonly AuditEntry[]): readonly AuditEntry[] {
  return sorted.filter((entry, index) => {
    const before = sorted[index - 1]
    return !(
      before !== undefined &&
      before.sequence === entry.sequence &&
      before.txnId === entry.txnId &&
      before.auditHash === entry.auditHash &&
      before.previousHash === entry.previousHash &&
      before.payload === entry.payload
    )
  })
}

function judge(entry: AuditEntry, position: number, previous: CheckedEntry | undefined): CheckedEntry | ChainProblem {
  const wrong = (problem: string): ChainProblem => ({ sequence: entry.sequence, txnId: entry.txnId, problem })
  if (entry.sequence < position) return wrong('there are two entries with this sequence')
  if (entry.sequence > position) return { sequence: position, txnId: null, problem: 'the entry is missing' }
  if (chainHash(entry.previousHash, entry.payload) !== entry.auditHash) {
    return wrong('its audit_hash does not follow from its previous_hash and its payload')
  }
  const fields = fieldsOf(entry.payload)
  if (fields === undefined) return wrong('its payload is no JSON object')
  if (fields['sequence'] !== entry.sequence) return wrong('its payload was written for another sequence')
  if (fields['txn_id'] !== entry.txnId) return wrong('its payload was written for another transaction')
  if (entry.previousHash !== (previous?.auditHash ?? GENESIS)) {
    return previous === undefined
      ? wrong('its previous_hash must be 32 zero bytes, because it is the first')
      : {
          sequence: previous.sequence,
          txnId: previous.txnId,
          problem: `entry ${entry.sequence} was written after another entry ${previous.sequence}: its previous_hash is not this audit_hash`,
        }
  }
  if (previous !== undefined && fields['account_id'] !== previous.fields['account_id']) {
    return wrong('its payload was written for another account')
  }
  return { ...entry, fields }
}

function fieldsOf(payload: string): JsonObject | undefined {
  const parsed = parseStrictJson(payload)
  if (!parsed.ok) return undefined
  const { value } = parsed
  return value === null || typeof value !== 'object' || Array.isArray(value) ? undefined : (value as JsonObject)
}
