/**
 * Checks an exported audit chain with nothing but SHA-256 (rules C1 and C2 of the audit chain):
 *   V1. Sequences run from 0 without a gap or a repeat.
 *   V2. Every audit_hash recomputes from the entry's previous_hash and its payload.
 *   V3. Every previous_hash is the audit_hash of the entry before; the first one's is 32 zero bytes.
 *   V4. The payload says the entry's own sequence and txn_id, and one account throughout.
 *   V5. Of entries whose payload is erased V1 and V3 alone can be checked; how many there are is said.
 */
import { chainHash, GENESIS, showHash, type AuditEntry } from '../../../actors/audit-chain.ts'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import { parseStrictJson } from '../../../api/http/json-text.ts'

/** `payload`: null, it was erased. */
export type GivenEntry = Omit<AuditEntry, 'payload'> & { readonly payload: string | null }

export interface ChainProblem {
  /** Of the first entry that is not what it was. */
  readonly sequence: number
  readonly txnId: string | null
  readonly problem: string
}

export interface CheckedEntry extends GivenEntry {
  /** null: they are erased. */
  readonly fields: JsonObject | null
}

export interface CheckedChain {
  /** Empty where all payloads are erased. */
  readonly accountId: string
  readonly entries: ReadonlyMap<number, CheckedEntry>
  /** How many have no payload any more. */
  readonly erased: number
  /** The last entry's hash: what GET /v1/accounts/{id}/state shows as audit_hash. */
  readonly tip: string
}

export type ChainResult =
  | { readonly ok: true; readonly chain: CheckedChain }
  | { readonly ok: false; readonly problem: ChainProblem }

/** In any order: pages may be given as they come. At least one entry. */
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

/** Of copies the one that still has its payload comes first. */
function bySequence(left: GivenEntry, right: GivenEntry): number {
  return left.sequence - right.sequence || Number(left.payload === null) - Number(right.payload === null)
}

/** A page that was given twice is no harm, nor one from before the account was erased. */
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

/** `accountId`: whose the entries before were. */
function judge(
  entry: GivenEntry,
  position: number,
  previous: CheckedEntry | undefined,
  accountId: string | undefined,
): CheckedEntry | ChainProblem {
  const wrong = (problem: string): ChainProblem => ({ sequence: entry.sequence, txnId: entry.txnId, problem })
  if (entry.sequence < position) return wrong('there are two entries with this sequence')
  if (entry.sequence > position) return { sequence: position, txnId: null, problem: 'the entry is missing' }
  const { payload } = entry
  if (payload !== null && chainHash(entry.previousHash, payload) !== entry.auditHash) {
    return wrong('its audit_hash does not follow from its previous_hash and its payload')
  }
  const fields = payload === null ? null : fieldsOf(payload)
  if (fields === undefined) return wrong('its payload is no JSON object')
  if (fields !== null && fields['sequence'] !== entry.sequence) {
    return wrong('its payload was written for another sequence')
  }
  if (fields !== null && fields['txn_id'] !== entry.txnId) {
    return wrong('its payload was written for another transaction')
  }
  if (entry.previousHash !== (previous?.auditHash ?? GENESIS)) {
    return previous === undefined
      ? wrong('its previous_hash must be 32 zero bytes, because it is the first')
      : {
          sequence: previous.sequence,
          txnId: previous.txnId,
          problem: `entry ${entry.sequence} was written after another entry ${previous.sequence}: its previous_hash is not this audit_hash`,
        }
  }
  if (accountId !== undefined && fields !== null && fields['account_id'] !== accountId) {
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
