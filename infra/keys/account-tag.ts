/**
 * Logs name an account by a short keyed hash, so that lines about one account can be matched. Without the key the tag reveals
 * no account ID. Two accounts share a tag with a chance of 2^-32.
 */
import { createHmac } from 'node:crypto'

/** 8 hexadecimal digits. */
export type AccountTag = (accountId: string) => string

const TAG_BYTES = 4

/** `key`: 32 secret bytes, the same for all parts of a ledger. */
export function createAccountTag(key: Buffer): AccountTag {
  return (accountId) => createHmac('sha256', key).update(accountId, 'utf8').digest().toString('hex', 0, TAG_BYTES)
}
