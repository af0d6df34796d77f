/**
 * What look-ups use in place of what must not be readable: keyed hashes (HMAC-SHA-256), cut to 128 bits. Two of a thousand
 * million IDs meet in one with a chance below 2^-68. Each use has a key of its own.
 */
import { createHmac, hkdfSync } from 'node:crypto'
import { createKeyedHash, KEYED_HASH_BYTES } from '../../runtime/liabilities/keyed-hash.ts'
import { createBoundedCache } from '../../runtime/bounded-cache.ts'
import { accountKeyName, type KeyName } from './key-name.ts'

export interface BlindIndex {
  /** Stands for the account in every table: 22 characters of base64url. */
  readonly accountRef: (accountId: string) => string
  /** The name of the account's data key. */
  readonly accountKeyName: (accountId: string) => KeyName
  /** Stands for an idempotency key among those of one owner (an account, a client). */
  readonly keyRef: (owner: string, idempotencyKey: string) => string
  /** Stands for an amount together with many others: what it reveals is said in the README. */
  readonly bucketOf: (magnitude: number) => number
}

const KEY_BYTES = 32
const REF_BYTES = 16
const CACHED_ACCOUNTS = 50_000
/** Bytes of what is hashed without an object of its own for each; account IDs and keys are rarely longer. */
const SHORT_BYTES = 512

/** Made once for an account: whatever is sealed of it asks for both. */
interface AccountNames {
  readonly ref: string
  readonly keyName: KeyName
}

/** `secret`: 32 random bytes, fixed when the ledger is created. `cached`: accounts whose references are kept. */
export function createBlindIndex(secret: Buffer, cached: number = CACHED_ACCOUNTS): BlindIndex {
  const keyFor = (use: string): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, '', `ledger/index/${use}/1`, KEY_BYTES))
  const accountHash = createHash(keyFor('account'))
  const idempotencyHash = createHash(keyFor('idempotency-key'))
  const bucketKey = keyFor('amount-bucket')
  const names = createBoundedCache<string, AccountNames>(cached)
  const buckets = new Map<number, number>()
  const namesOf = (accountId: string): AccountNames => {
    const known = names.get(accountId)
    if (known !== undefined) return known
    const ref = accountHash(accountId).toString('base64url', 0, REF_BYTES)
    const made = { ref, keyName: accountKeyName(ref) }
    names.set(accountId, made)
    return made
  }
  return {
    accountRef: (accountId) => namesOf(accountId).ref,
    accountKeyName: (accountId) => namesOf(accountId).keyName,
    keyRef: (owner, key) => idempotencyHash(`${owner}\u001f${key}`).toString('base64url', 0, REF_BYTES),
    bucketOf: (magnitude) => {
      const known = buckets.get(magnitude)
      if (known !== undefined) return known
      const bucket = hmac(bucketKey, String(magnitude)).readInt32BE(0)
      buckets.set(magnitude, bucket)
      return bucket
    },
  }
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
