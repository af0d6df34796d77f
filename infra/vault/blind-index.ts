/**
 * Keyed hashes (HMAC-SHA-256) that stand in for secret values in look-ups, cut to 128 bits. Two of 10^9 IDs collide with a
 * chance below 2^-68. Each use has its own key.
 *   B1. Rows of different accounts must not reveal a common group by a common hash. An account belongs to one of
 *       GROUP_CLASSES classes, each class has its own hash of the group, and a search for the group computes them all.
 */
import { createHmac, hkdfSync } from 'node:crypto'
import { createKeyedHash, KEYED_HASH_BYTES } from '../../runtime/liabilities/keyed-hash.ts'
import { createBoundedCache } from '../../runtime/common/bounded-cache.ts'
import { accountKeyName, type KeyName } from './key-name.ts'

export interface BlindIndex {
  /** Reference of the account in tables: 22 characters of base64url. */
  readonly accountRef: (accountId: string) => string
  readonly accountKeyName: (accountId: string) => KeyName
  /** Keyed hash of an idempotency key. `owner`: an account or a client. */
  readonly keyRef: (owner: string, idempotencyKey: string) => string
  /** Keyed hash of a group ID for rows of the account, as a UUID. */
  readonly groupRef: (accountId: string, groupId: string) => string
  /** Every reference that rows of the group may have. */
  readonly groupRefs: (groupId: string) => readonly string[]
  /** Keyed hash of a magnitude, for one account, or the same for all accounts if `accountId` is null. */
  readonly bucketOf: (accountId: string | null, magnitude: number) => number
}

const KEY_BYTES = 32
const REF_BYTES = 16
const CACHED_ACCOUNTS = 50_000
/** The pages of a list look up the same group. */
const CACHED_GROUPS = 64
/** B1. Two accounts of a group share a class with a chance of 1 in 1,024. */
export const GROUP_CLASSES = 1_024
/** Texts up to this size are hashed without an allocation. Account IDs and keys are rarely longer. */
const SHORT_BYTES = 512

/** Computed once per account: each seal needs both. */
interface AccountNames {
  readonly ref: string
  readonly keyName: KeyName
  readonly groupClass: number
}

/** `secret`: 32 bytes, fixed when the ledger is created. `cached`: number of accounts in the cache. */
export function createBlindIndex(secret: Buffer, cached: number = CACHED_ACCOUNTS): BlindIndex {
  const keyFor = (use: string): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, '', `ledger/index/${use}/1`, KEY_BYTES))
  const accountHash = createHash(keyFor('account'))
  const idempotencyHash = createHash(keyFor('idempotency-key'))
  const bucketHash = createHash(keyFor('amount-bucket'))
  const groupHash = createHash(keyFor('group'))
  const groups = createBoundedCache<string, readonly string[]>(CACHED_GROUPS)
  const names = createBoundedCache<string, AccountNames>(cached)
  const namesOf = (accountId: string): AccountNames => {
    const known = names.get(accountId)
    if (known !== undefined) return known
    const hashed = accountHash(accountId)
    const ref = hashed.toString('base64url', 0, REF_BYTES)
    const made = { ref, keyName: accountKeyName(ref), groupClass: hashed.readUInt16BE(REF_BYTES) % GROUP_CLASSES }
    names.set(accountId, made)
    return made
  }
  const refIn = (groupClass: number, groupId: string): string =>
    uuidOf(groupHash(`${groupClass}\u001f${groupId}`).toString('hex', 0, REF_BYTES))
  return {
    accountRef: (accountId) => namesOf(accountId).ref,
    accountKeyName: (accountId) => namesOf(accountId).keyName,
    keyRef: (owner, key) => idempotencyHash(`${owner}\u001f${key}`).toString('base64url', 0, REF_BYTES),
    groupRef: (accountId, groupId) => refIn(namesOf(accountId).groupClass, groupId),
    groupRefs: (groupId) => {
      const known = groups.get(groupId)
      if (known !== undefined) return known
      const refs = Array.from({ length: GROUP_CLASSES }, (_, groupClass) => refIn(groupClass, groupId))
      groups.set(groupId, refs)
      return refs
    },
    bucketOf: (accountId, magnitude) =>
      bucketHash(`${accountId === null ? '' : namesOf(accountId).ref}\u001f${magnitude}`).readInt32BE(0),
  }
}

function uuidOf(digits: string): string {
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`
}

/** The next call overwrites the returned buffer. */
function createHash(key: Buffer): (text: string) => Buffer {
  const short = createKeyedHash(key, SHORT_BYTES)
  const hashed = Buffer.alloc(KEYED_HASH_BYTES)
  return (text) => {
    const bytes = Buffer.from(text, 'utf8')
    if (bytes.length > SHORT_BYTES) return hmac(key, text)
    short.write(bytes, hashed, 0)
    return hashed
  }
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text, 'utf8').digest()
}
