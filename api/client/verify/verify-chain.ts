/**
 * Verifies an audit chain by SHA-256 alone, which anybody can compute: the ledger has signed none of it. It proves that the
 * entries are those that its last hash stands for, without a change, a gap or an insertion. It proves nothing about entries
 * behind the last one. Compare a hash with one that is known or signed: the `tip`, or a receipt of the last entry.
 * audit_hash = SHA-256(previous hash || SHA-256(payload)), both as 32 bytes.
 *   V1. Sequences are integers that run from 0 without a gap or a duplicate. Hashes have their exact form.
 *   V2. Every audit_hash is the hash of the entry's previous_hash and payload.
 *   V3. Every previous_hash is the audit_hash of the previous entry; the first one is 32 zero bytes.
 *   V4. Every payload is canonical JSON with the entry's sequence and txn_id, and all have the same account.
 *   V5. Entries with an erased payload are verified by V1 and V3 only. The result counts them.
 */
import { canonicalJson, type Json, type JsonObject } from '../../../actors/canonical-json.ts'
import { concat, fromHex, hex, sha256, utf8 } from '../signing/bytes.ts'
import type { AuditEntry } from '../generated/api-types.ts'
import { type Invalid, judged, tampered, unexpected, type Valid } from './verdict.ts'

/** An entry as the interface shows it. */
export type GivenEntry = Pick<AuditEntry, 'sequence' | 'txn_id' | 'previous_hash' | 'audit_hash' | 'payload'>

export interface VerifiedEntry extends GivenEntry {
  /** The parsed payload; null if it is erased. */
  readonly fields: JsonObject | null
}

export interface VerifiedChain extends Valid {
  /** Empty if all payloads are erased. */
  readonly accountId: string
  /** By sequence. */
  readonly entries: ReadonlyMap<number, VerifiedEntry>
  /** Number of entries with an erased payload. */
  readonly erased: number
  /** The last entry's hash: `audit_hash` of the account when the entry was the last one. */
  readonly tip: string
}

export interface BrokenChain extends Invalid {
  /** The first changed entry; undefined for a chain without entries. */
  readonly sequence?: number
  readonly txnId?: string | null
}

export interface ChainExpectation {
  /** A known `audit_hash` of the account, of any entry: proves that no entry up to it is changed or missing. */
  readonly tip?: string | undefined
  /** The account that the chain must be of. Not proved by a chain whose payloads are all erased. */
  readonly accountId?: string | undefined
}

type HashOf = (entry: GivenEntry) => string | undefined

/** WebCrypto hashes in other threads: one after the other waits for each. */
const HASHED_AT_ONCE = 1_000
const HASH_BYTES = 32
const PREFIX = 'sha256:'
const HASH = /^sha256:[0-9a-f]{64}$/
const HASH_FORM = 'sha256: and 64 digits of 0-9 and a-f'
const GENESIS = `${PREFIX}${'0'.repeat(2 * HASH_BYTES)}`

/** `given`: all entries of one account from sequence 0 on, in any order. Pass `tip`, or compare the `tip` of the result. */
export async function verifyChain(
  given: readonly GivenEntry[],
  expected: ChainExpectation = {},
): Promise<VerifiedChain | BrokenChain> {
  return judged<VerifiedChain | BrokenChain>(async () => {
    const hashes = new Map<GivenEntry, string | undefined>()
    for (let start = 0; start < given.length; start += HASHED_AT_ONCE) {
      const entries = given.slice(start, start + HASHED_AT_ONCE)
      const hashed = await Promise.all(entries.map(chainHash))
      for (const [index, entry] of entries.entries()) hashes.set(entry, hashed[index])
    }
    return judgeChain(given, (entry) => hashes.get(entry), expected)
  })
}

/** The same with other means to hash. `hashOf`: an entry with a payload; undefined for a malformed previous hash. */
export function judgeChain(
  given: readonly GivenEntry[],
  hashOf: HashOf,
  { tip, accountId: expectedId }: ChainExpectation = {},
): VerifiedChain | BrokenChain {
  if (given.length === 0) return { ok: false, reason: 'incomplete', problem: 'the chain has no entries' }
  for (const entry of given) {
    const malformed = problemOfForm(entry)
    if (malformed !== undefined) return broken(entry, malformed)
  }
  const checked = new Map<number, VerifiedEntry>()
  let previous: VerifiedEntry | undefined
  let accountId: string | undefined
  for (const [position, entry] of withoutCopies(given.toSorted(bySequence)).entries()) {
    const found = judgeEntry(entry, hashOf, { position, previous, accountId })
    if ('problem' in found) return found
    const named = found.fields?.['account_id']
    accountId ??= typeof named === 'string' ? named : undefined
    checked.set(entry.sequence, found)
    previous = found
  }
  const last = previous?.audit_hash ?? GENESIS
  if (expectedId !== undefined && accountId === undefined) {
    return { ok: false, reason: 'incomplete', problem: 'its payloads are erased, so that nothing names its account' }
  }
  const other = expectedId === undefined ? undefined : unexpected({ account_id: expectedId }, { account_id: accountId })
  if (other !== undefined) return other
  const known = [...checked.values()].find(({ audit_hash: hash }) => hash === tip)
  if (tip !== undefined && known === undefined) return tampered(`the chain ends with ${last}, and ${tip} is not in it`)
  return verified(accountId ?? '', checked, last, known)
}

function verified(
  accountId: string,
  entries: ReadonlyMap<number, VerifiedEntry>,
  tip: string,
  known: VerifiedEntry | undefined,
): VerifiedChain {
  const erased = [...entries.values()].filter(({ payload }) => payload === null).length
  const proved = [
    `The ${entries.size} entries of ${accountId === '' ? 'the account' : accountId} form one chain that ends with ${tip}.`,
    ...(known === undefined
      ? []
      : [`The expected hash is that of entry ${known.sequence}: no entry up to it is missing.`]),
    ...(erased === 0 ? [] : [`Of ${erased} entries the payload is erased: only their links are proved.`]),
  ]
  return { ok: true, proved, accountId, entries, erased, tip }
}

function problemOfForm({ sequence, previous_hash, audit_hash }: GivenEntry): string | undefined {
  if (!Number.isSafeInteger(sequence) || sequence < 0) return 'its sequence is no integer from 0 on'
  if (!HASH.test(previous_hash)) return `its previous_hash is not ${HASH_FORM}`
  return HASH.test(audit_hash) ? undefined : `its audit_hash is not ${HASH_FORM}`
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
      before.txn_id === entry.txn_id &&
      before.audit_hash === entry.audit_hash &&
      before.previous_hash === entry.previous_hash &&
      (before.payload === entry.payload || entry.payload === null)
    )
  })
}

/** `accountId`: of the previous entries. */
interface Place {
  readonly position: number
  readonly previous: VerifiedEntry | undefined
  readonly accountId: string | undefined
}

function judgeEntry(
  entry: GivenEntry,
  hashOf: HashOf,
  { position, previous, accountId }: Place,
): VerifiedEntry | BrokenChain {
  const wrong = (problem: string): BrokenChain => broken(entry, problem)
  if (entry.sequence < position) return wrong('two entries have this sequence')
  if (entry.sequence > position) return broken({ sequence: position, txn_id: null }, 'the entry is missing')
  const { payload } = entry
  if (payload !== null && hashOf(entry) !== entry.audit_hash) {
    return wrong('its audit_hash is not the hash of its previous_hash and payload')
  }
  const fields = payload === null ? null : fieldsOf(payload)
  if (fields === undefined) return wrong('its payload is not the canonical form of a JSON object')
  if (fields !== null && fields['sequence'] !== entry.sequence) return wrong('its payload has another sequence')
  if (fields !== null && fields['txn_id'] !== entry.txn_id) return wrong('its payload has another txn_id')
  if (entry.previous_hash !== (previous?.audit_hash ?? GENESIS)) {
    return previous === undefined
      ? wrong('its previous_hash must be 32 zero bytes, because it is the first entry')
      : broken(
          previous,
          `its audit_hash is not the previous_hash of entry ${entry.sequence}, which was written after another entry ${previous.sequence}`,
        )
  }
  if (accountId !== undefined && fields !== null && fields['account_id'] !== accountId) {
    return wrong('its payload has another account_id')
  }
  return { ...entry, fields }
}

function broken({ sequence, txn_id: txnId }: Pick<GivenEntry, 'sequence' | 'txn_id'>, problem: string): BrokenChain {
  return { ...tampered(problem), sequence, txnId }
}

/** Undefined for a malformed previous hash, and for an erased payload. */
async function chainHash({ previous_hash: previous, payload }: GivenEntry): Promise<string | undefined> {
  const before = HASH.test(previous) ? fromHex(previous.slice(PREFIX.length), HASH_BYTES) : undefined
  if (before === undefined || payload === null) return undefined
  return PREFIX + hex(await sha256(concat(before, await sha256(utf8(payload)))))
}

function fieldsOf(payload: string): JsonObject | undefined {
  let value: Json
  try {
    value = JSON.parse(payload) as Json
  } catch {
    return undefined
  }
  const isObject = value !== null && typeof value === 'object' && !Array.isArray(value)
  return isObject && canonicalJson(value) === payload ? (value as JsonObject) : undefined
}
