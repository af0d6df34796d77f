/**
 * An entry of the log for an entry of an account's chain. It does not show of which account.
 *   E1. An entry of the log is computed from a salt, and from the hash of the entry of the chain. Without the salt it is as
 *       good as random.
 *   E2. The ledger takes the salts of an account from its log key, which finds the account's entries by their tags. An
 *       operator can also log an entry under any other salt. Only those who have the key see that it is not of the account.
 *
 * Bytes, lengths in parentheses:
 *   salt         HMAC-SHA256(log key of the account (32), sequence (8, the most significant byte first))
 *   log's entry  tag (16) | commitment (32)
 *   tag          the first 16 bytes of SHA-256("ledger log tag" | 0x00 | salt (32))
 *   commitment   SHA-256("ledger log entry" | 0x00 | salt (32) | audit_hash (32))
 */
import { type Bytes, concat, fromHex, sha256, utf8 } from '../signing/bytes.ts'

export const SALT_BYTES = 32
export const TAG_BYTES = 16
export const ENTRY_BYTES = 48

const HASH_BYTES = 32
const SEQUENCE_BYTES = 8
const TAG_PREFIX = utf8('ledger log tag\0')
const COMMITMENT_PREFIX = utf8('ledger log entry\0')
const HMAC = { name: 'HMAC', hash: 'SHA-256' }

/** `auditHash`: as the interface shows it. Undefined for a malformed hash or salt. */
export async function logEntry(salt: Bytes, auditHash: string): Promise<Bytes | undefined> {
  const hash = fromHex(auditHash.replace(/^sha256:/, ''), HASH_BYTES)
  if (hash === undefined || salt.length !== SALT_BYTES) return undefined
  return concat(await entryTag(salt), await sha256(concat(COMMITMENT_PREFIX, salt, hash)))
}

export async function entryTag(salt: Bytes): Promise<Bytes> {
  return (await sha256(concat(TAG_PREFIX, salt))).slice(0, TAG_BYTES)
}

/** `logKey`: of the account. */
export async function entrySalt(logKey: Bytes, sequence: number): Promise<Bytes> {
  const key = await crypto.subtle.importKey('raw', logKey, HMAC, false, ['sign'])
  const number = new Uint8Array(SEQUENCE_BYTES)
  new DataView(number.buffer).setBigUint64(0, BigInt(sequence))
  return new Uint8Array(await crypto.subtle.sign(HMAC.name, key, number))
}
