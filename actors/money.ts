/**
 * Quantities: exact decimals with at most 18 integer and 18 fractional digits.
 * Arithmetic uses a Decimal of its own with 80 digits: the global default silently rounds to 20.
 */
import { Decimal } from 'decimal.js'

export const Quantity = Decimal.clone({ precision: 80, toExpNeg: -9e15, toExpPos: 9e15, defaults: true })
export type Quantity = Decimal

export const ZERO: Quantity = new Quantity(0)

/** The largest quantity an account may hold: 18 digits on each side of the point. */
export const LARGEST: Quantity = new Quantity('999999999999999999.999999999999999999')

/** The ledger's own unit, for transactions without a token. It has 18 decimals. */
export const BASE_UNIT = 'BASE'
export const BASE_DECIMALS = 18
/** The most that a token may have. */
export const MAX_DECIMALS = 18

const DECIMAL_STRING = /^(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?$/

/** Whether the text is a decimal string: non-negative, no exponent, no leading zeros, at most 18+18 digits. */
export function isDecimalString(text: string): boolean {
  return DECIMAL_STRING.test(text)
}

/** Reads a decimal string that passed `isDecimalString`. Zeros are one: most of what an account in memory has are zeros. */
export function parseQuantity(text: string): Quantity {
  return text === '0' ? ZERO : new Quantity(text)
}

/** One plus the other: most of what is added here is zero, and needs no arithmetic. */
export function sum(one: Quantity, other: Quantity): Quantity {
  if (other.isZero()) return one
  return one.isZero() ? other : one.plus(other)
}

/** Minimal form: no exponent, no trailing zeros (`100.5`, `0`). */
export function formatQuantity(quantity: Quantity): string {
  return quantity.toFixed()
}

/** Fractional digits that remain after trailing zeros are dropped. */
export function fractionalDigits(quantity: Quantity): number {
  return quantity.decimalPlaces()
}
