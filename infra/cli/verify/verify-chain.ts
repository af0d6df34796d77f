/**
 * Verifies a saved audit chain by SHA-256 alone (rules C1 and C2 of the audit chain):
 *   V1. Sequences run from 0 without a gap or a duplicate.
 *   V2. Every audit_hash is the hash of the entry's previous_hash and payload.
 *   V3. Every previous_hash is the audit_hash of the previous entry; the first one is 32 zero bytes.
 *   V4. Every payload has the entry's sequence and txn_id, and all have the same account.
 *   V5. Entries with an erased payload are verified by V1 and V3 only. The result counts them.
 */
import { chainHash, GENESIS, showHash, type AuditEntry } from '../../../actors/audit-chain.ts'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import { jsonObjectOf } from '../common/given-file.ts'

/** `payload`: null if it is erased. */
export type GivenEntry = Omit<AuditEntry, 'payload'> & { readonly payload: string | null }

export interface ChainProblem {
  /** Of the first changed entry. */
  readonly sequence: number
  readonly txnId: string | null
  readonly problem: string
}

export interface CheckedEntry extends GivenEntry {
  /** The parsed payload; null if it is erased. */
  readonly fields: JsonObject | null
}

export interface CheckedChain {
  /** Empty if all payloads are erased. */
  readonly accountId: string
  readonly entries: ReadonlyMap<number, CheckedEntry>
  /** Number of entries with an erased payload. */
  readonly erased: number
  /** The last entry's hash, which is the audit_hash of GET /v1/accounts/{id}/state. */
  readonly tip: string
}

export type ChainResult =
  | { readonly ok: true; readonly chain: CheckedChain }
  | { readonly ok: false; readonly problem: ChainProblem }

/** `given`: at least one entry, in any order. */
export function verifyChain(given: readonly GivenEntry[]): ChainResult {
  const entries = withoutCopies([...given].sort(bySequence))
  const checked = new Map<number, CheckedEntry>()
  let previous: CheckedEntry | undefined
  let accountId: string | undefined
  for (const [position, entry] of entries.entries()) {
    const found = judge(entry, position, previous, accountId)
    if ('problem' in found) return { ok: false, problem: found }
    accountId ??= accountIn(found)
    checked.set(entry.sequence, found)
    previous = found
  }
  return {
    ok: true,
    chain: {
      accountId: accountId ?? '',
      entries: checked,
      erased: [...checked.values()].filter(({ payload }) => payload === null).length,
      tip: showHash(previous?.auditHash ?? GENESIS),
    },
  }
}

function accountIn({ fields }: CheckedEntry): string | undefined {
  const accountId = fields?.['account_id']
  return typeof accountId === 'string' ? accountId : undefined
}

/** Of two copies the one with a payload comes first. */
function bySequence(left: GivenEntry, right: GivenEntry): number {
  return left.sequence - right.sequence || Number(left.payload === null) - Number(right.payload === null)
}

/** A page may be given twice, or once from before the erasure of the account. */
function withoutCopies(sorted: readonly GivenEntry[]): readonly GivenEntry[] {
  return sorted.filter((entry, index) => {
    const before = sorted[index - 1]
    return !(
      before !== undefined &&
      before.sequence === entry.sequence &&
      before.txnId === entry.txnId &&
      before.auditHash === entry.auditHash &&
      before.previousHash === entry.previousHash &&
      (before.payload === entry.payload || entry.payload === null)
    )
  })
}

/** `accountId`: of the previous entries. */
function judge(
  entry: GivenEntry,
  position: number,
  previous: CheckedEntry | undefined,
  accountId: string | undefined,
): CheckedEntry | ChainProblem {
  const wrong = (problem: string): ChainProblem => ({ sequence: entry.sequence, txnId: entry.txnId, problem })
  if (entry.sequence < position) return wrong('two entries have this sequence')
  if (entry.sequence > position) return { sequence: position, txnId: null, problem: 'the entry is missing' }
  const { payload } = entry
  if (payload !== null && chainHash(entry.previousHash, payload) !== entry.auditHash) {
    return wrong('its audit_hash is not the hash of its previous_hash and payload')
  }
  const fields = payload === null ? null : jsonObjectOf(payload)
  if (fields === undefined) return wrong('its payload is not a JSON object')
  if (fields !== null && fields['sequence'] !== entry.sequence) {
    return wrong('its payload has another sequence')
  }
  if (fields !== null && fields['txn_id'] !== entry.txnId) {
    return wrong('its payload has another txn_id')
  }
  if (entry.previousHash !== (previous?.auditHash ?? GENESIS)) {
    return previous === undefined
      ? wrong('its previous_hash must be 32 zero bytes, because it is the first entry')
      : {
          sequence: previous.sequence,
          txnId: previous.txnId,
          problem: `its audit_hash is not the previous_hash of entry ${entry.sequence}, which was written after another entry ${previous.sequence}`,
        }
  }
  if (accountId !== undefined && fields !== null && fields['account_id'] !== accountId) {
    return wrong('its payload has another account_id')
  }
  return { ...entry, fields }
}
