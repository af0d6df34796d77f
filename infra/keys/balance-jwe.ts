/**
 * Encrypts the secret parts of an export for the receiving ledger, as JWE to its P-256 key.
 *   J1. A balance is bound to its account and token, and opens for no other.
 *   J2. Foreign input never throws.
 */
import * as v from 'valibot'
import { formatQuantity, isDecimalString, parseQuantity } from '../../actors/money.ts'
import { balanceText } from '../../api/schemas/requests/export-records.ts'
import { decryptJwe, encryptJwe, type PrivateKeyOf } from './compact-jwe.ts'
import type { PublicKey } from './public-key.ts'

/** Identifies a balance. */
export interface BalanceOf {
  readonly accountId: string
  readonly tokenId: string
}

/** Twice the longest text of this module. */
const LONGEST_JWE = 2_048

/** `balance`: in minimal form, not zero. */
export function encryptBalance(recipient: PublicKey, { accountId, tokenId }: BalanceOf, balance: string): string {
  return encryptJwe(recipient, balanceText(accountId, tokenId, balance))
}

/** Returns a non-zero quantity in minimal form; undefined if the text does not open or is of another balance (J1). */
export function decryptBalance(
  privateKeyOf: PrivateKeyOf,
  { accountId, tokenId }: BalanceOf,
  jwe: string,
): string | undefined {
  const text = decryptShort(privateKeyOf, jwe)
  const balance = text === undefined ? undefined : balanceIn(text)
  if (balance === undefined || balance === '0' || !isMinimal(balance)) return undefined
  return balanceText(accountId, tokenId, balance) === text ? balance : undefined
}

const KEY_SALT = /^[0-9a-f]{32}$/

/** `salt`: 32 hexadecimal digits. */
export function encryptKeySalt(recipient: PublicKey, salt: string): string {
  return encryptJwe(recipient, salt)
}

/** Returns 32 hexadecimal digits; undefined if the text does not open or has another form. */
export function decryptKeySalt(privateKeyOf: PrivateKeyOf, jwe: string): string | undefined {
  const text = decryptShort(privateKeyOf, jwe)
  return text !== undefined && KEY_SALT.test(text) ? text : undefined
}

function decryptShort(privateKeyOf: PrivateKeyOf, jwe: string): string | undefined {
  return jwe.length > LONGEST_JWE ? undefined : decryptJwe(privateKeyOf, jwe)
}

const balanceSchema = v.object({ balance: v.string() })

function balanceIn(text: string): string | undefined {
  try {
    return v.parse(balanceSchema, JSON.parse(text)).balance
  } catch {
    return undefined
  }
}

function isMinimal(balance: string): boolean {
  return isDecimalString(balance) && formatQuantity(parseQuantity(balance)) === balance
}
