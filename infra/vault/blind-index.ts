/**
 * What look-ups use in place of what must not be readable: keyed hashes (HMAC-SHA-256), cut to 128 bits. Two of a thousand
 * million IDs meet in one with a chance below 2^-68. Each use has a key of its own.
 *   B1. Rows of a group's accounts must not have its hash in common. An account belongs to one of GROUP_CLASSES classes, each
 *       class has hashes of its own, and a search for a group computes them all.
 */
import { createHmac, hkdfSync } from 'node:crypto'
import { createKeyedHash, KEYED_HASH_BYTES } from '../../runtime/liabilities/keyed-hash.ts'
import { createBoundedCache } from '../../runtime/common/bounded-cache.ts'
import { accountKeyName, type KeyName } from './key-name.ts'

export interface BlindIndex {
  /** Stands for the account in every table: 22 characters of base64url. */
  readonly accountRef: (accountId: string) => string
  /** The name of the account's data key. */
  readonly accountKeyName: (accountId: string) => KeyName
  /** Stands for an idempotency key among those of one owner (an account, a client). */
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
/** The pages of a list ask for the same, one after another. */
const CACHED_GROUPS = 64
/** B1. Two accounts of a group are in one class with a chance of 1 in so many. */
export const GROUP_CLASSES = 1_024
/** Bytes of what is hashed without an object of its own for each; account IDs and keys are rarely longer. */
const SHORT_BYTES = 512

/** Made once for an account: whatever is sealed of it asks for both. */
interface AccountNames {
  readonly ref: string
  readonly keyName: KeyName
  readonly groupClass: number
}

/** `secret`: 32 random bytes, fixed when the ledger is created. `cached`: accounts whose references are kept. */
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

/** What it gives is overwritten by the next. */
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
