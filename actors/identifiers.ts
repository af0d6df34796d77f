/**
 * Identifiers. A ULID (github.com/ulid/spec) has 48 bits of time in milliseconds and 80 free bits: here 16 bits count
 * within the millisecond, 16 are the shard, 48 are random. An ID thus names its shard, and the IDs of one shard
 * increase.
 */
import { hash } from 'node:crypto'

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const ACCOUNT_ID = /^[A-Za-z0-9_.:@-]{1,128}$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const HOLD_ID = /^hld_[0-7][0-9A-HJKMNP-TV-Z]{25}$/
const TRANSACTION_ID = /^txn_[0-7][0-9A-HJKMNP-TV-Z]{25}$/

/** The shard's number has 16 bits in an ID. */
export const MAX_SHARDS = 65_536
/** The most IDs of one shard within a millisecond. */
export const MAX_IDS_PER_MS = 65_536

/** The name that replaces the ID of an erased account (D19). */
const ERASED_NAME = /^erased:[0-9a-f]{12}$/

/** D1: URL normalization removes `.` and `..`. */
export function isAccountId(text: string): boolean {
  return ACCOUNT_ID.test(text) && text !== '.' && text !== '..' && !ERASED_NAME.test(text)
}

/** Whether the name is that of an erased account. */
export function isErasedName(text: string): boolean {
  return ERASED_NAME.test(text)
}

/** Controls, format characters, line separators, and code points without a character. */
const NOT_PRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u
const ATTESTER = /^.{1,256}$/u

export function isPrintable(text: string): boolean {
  return !NOT_PRINTABLE.test(text)
}

/** D13: any printable name (the length counts code points) but the name of an erased account. */
export function isAttester(text: string): boolean {
  return ATTESTER.test(text) && isPrintable(text) && !ERASED_NAME.test(text)
}

/** Any version, either case. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}

export function isTransactionId(text: string): boolean {
  return TRANSACTION_ID.test(text)
}

export function isHoldId(text: string): boolean {
  return HOLD_ID.test(text)
}

/** The ID of the hold that a command creates: it has the ULID of the transaction that the command does not create. */
export function holdIdOf(newTxnId: string): string {
  return `hld_${newTxnId.slice(4)}`
}

/** Parts of a ULID. `random` has 48 bits. */
export interface UlidParts {
  readonly timeMs: number
  readonly counter: number
  readonly shardId: number
  readonly random: number
}

export function encodeUlid({ timeMs, counter, shardId, random }: UlidParts): string {
  // Numbers hold 53 bits exactly: the 80 bits are written as two halves of 40.
  const upper = counter * 2 ** 24 + shardId * 2 ** 8 + Math.floor(random / 2 ** 40)
  return digits(timeMs, 10) + digits(upper, 8) + digits(random % 2 ** 40, 8)
}

/** Five bits a digit, the most significant first. */
function digits(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) text = ALPHABET.charAt(rest % 32) + text
  return text
}

/** Undefined unless the text is a ULID of 26 characters. */
export function decodeUlid(text: string): UlidParts | undefined {
  if (text.length !== 26) return undefined
  let bits = 0n
  for (const character of text) {
    const digit = ALPHABET.indexOf(character)
    if (digit < 0) return undefined
    bits = (bits << 5n) | BigInt(digit)
  }
  if (bits >> 128n !== 0n) return undefined
  return {
    timeMs: Number(bits >> 80n),
    counter: Number((bits >> 64n) & 0xffffn),
    shardId: Number((bits >> 48n) & 0xffffn),
    random: Number(bits & 0xffffffffffffn),
  }
}

/** The shard that issued this transaction ID; undefined for another text. */
export function shardOfTransactionId(txnId: string): number | undefined {
  return isTransactionId(txnId) ? decodeUlid(txnId.slice(4))?.shardId : undefined
}

/** The time in a transaction ID, milliseconds since 1970; undefined for another text. */
export function timeOfTransactionId(txnId: string): number | undefined {
  return isTransactionId(txnId) ? decodeUlid(txnId.slice(4))?.timeMs : undefined
}

/** The smallest transaction ID of a time, as a bound of a range; a time that IDs cannot hold is clamped. */
export function transactionIdFloor(timeMs: number): string {
  return `txn_${ulidFloor(timeMs)}`
}

/** The smallest attestation ID of a time. */
export function attestationIdFloor(timeMs: number): string {
  return `att_${ulidFloor(timeMs)}`
}

function ulidFloor(timeMs: number): string {
  const clamped = Math.min(Math.max(Math.ceil(timeMs), 0), 2 ** 48 - 1)
  return encodeUlid({ timeMs: clamped, counter: 0, shardId: 0, random: 0 })
}

/** A UUID of version 8 (RFC 9562), derived from a unique and secret text. */
export function uuidOf(text: string): string {
  const digits = hash('sha256', text, 'hex')
  const variant = '89ab'.charAt(Number.parseInt(digits.charAt(16), 16) % 4)
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    variant + digits.slice(17, 20),
    digits.slice(20, 32),
  ].join('-')
}
