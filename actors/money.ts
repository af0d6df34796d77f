/**
 * Quantities: exact decimals with 18 fractional digits, as bigints that count units of 10^-18. Sums are unbounded;
 * `LARGEST` bounds an account's holdings.
 */
export type Quantity = bigint

const FRACTIONAL_DIGITS = 18

export const ZERO: Quantity = 0n

/** The largest quantity an account may hold: 18 digits on each side of the point. */
export const LARGEST: Quantity = 10n ** 36n - 1n

/** The ledger's own unit, for transactions without a token. */
export const BASE_UNIT = 'BASE'
export const BASE_DECIMALS = 18
/** Limit for tokens. */
export const MAX_DECIMALS = 18

const DECIMAL_STRING = /^(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?$/
/** Sums may be negative and longer. */
const QUANTITY = /^-?[0-9]+(\.[0-9]{1,18})?$/
const DIGIT_ZERO = 48

/** Whether the text is a decimal string: non-negative, no exponent, no leading zeros, at most 18+18 digits. */
export function isDecimalString(text: string): boolean {
  return DECIMAL_STRING.test(text)
}

/**
 * Reads a decimal string, or the output of `formatQuantity`. Throws a RangeError, which omits the text, for other
 * input.
 */
export function parseQuantity(text: string): Quantity {
  const quantity = readQuantity(text)
  if (quantity === undefined) throw new RangeError('a quantity must be a decimal with at most 18 fractional digits')
  return quantity
}

/** As `parseQuantity`; undefined for other input. */
export function readQuantity(text: string): Quantity | undefined {
  if (text === '0') return ZERO
  if (!QUANTITY.test(text)) return undefined
  const point = text.indexOf('.')
  if (point < 0) return BigInt(text + ''.padEnd(FRACTIONAL_DIGITS, '0'))
  return BigInt(text.slice(0, point) + text.slice(point + 1).padEnd(FRACTIONAL_DIGITS, '0'))
}

/** Minimal form: no exponent, no trailing zeros (`100.5`, `0`). */
export function formatQuantity(quantity: Quantity): string {
  if (quantity === ZERO) return '0'
  if (quantity < ZERO) return `-${formatQuantity(-quantity)}`
  const digits = quantity.toString().padStart(FRACTIONAL_DIGITS + 1, '0')
  const point = digits.length - FRACTIONAL_DIGITS
  let end = digits.length
  while (end > point && digits.charCodeAt(end - 1) === DIGIT_ZERO) end -= 1
  const whole = digits.slice(0, point)
  return end === point ? whole : `${whole}.${digits.slice(point, end)}`
}

/** Number of fractional digits, without trailing zeros. */
export function fractionalDigits(quantity: Quantity): number {
  const text = formatQuantity(quantity)
  const point = text.indexOf('.')
  return point < 0 ? 0 : text.length - point - 1
}
