/**
 * How logs name an account: by a few digits of a keyed hash. Lines about one account can be put together, and of two lines
 * about different ones the tags differ in all but one of four thousand million cases; nobody without the key can find the
 * account to a tag, or tell whether an account has one.
 */
import { createHmac } from 'node:crypto'

/** 8 hexadecimal digits. */
export type AccountTag = (accountId: string) => string

const TAG_BYTES = 4

/** `key`: 32 secret bytes, the same for all parts of a ledger. */
export function createAccountTag(key: Buffer): AccountTag {
  return (accountId) => createHmac('sha256', key).update(accountId, 'utf8').digest().toString('hex', 0, TAG_BYTES)
}
