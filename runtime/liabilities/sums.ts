/**
 * Sums of a proof of liabilities: whole units of 10^-18, never negative, as 32 bytes, the most significant first. A
 * balance has 36 digits; what a million times a million of them add up to still fits, and nothing ever wraps around.
 */
export const SUM_BYTES = 32

const LIMB_BYTES = 4
const LIMB_VALUE = 2 ** 32
const WORD_BITS = 64n
const LARGEST_SUM = (1n << 256n) - 1n

const DECIMALS = 18
const DECIMAL = /^(-?)([0-9]+)(?:\.([0-9]+))?$/

/** Throws a RangeError for a sum that is negative or too large. */
export function writeSum(target: Buffer, at: number, units: bigint): void {
  if (units < 0n || units > LARGEST_SUM) throw new RangeError('This is no sum of liabilities.')
  let rest = units
  for (let end = at + SUM_BYTES; end > at; end -= 8) {
    target.writeBigUInt64BE(BigInt.asUintN(64, rest), end - 8)
    rest >>= WORD_BITS
  }
}

export function readSum(source: Buffer, at: number): bigint {
  let units = 0n
  for (let word = at; word < at + SUM_BYTES; word += 8) units = (units << WORD_BITS) | source.readBigUInt64BE(word)
  return units
}

/** Writes the sum of the sums at `left` and `right`. Throws a RangeError when it does not fit. */
export function addSums(buffer: Buffer, at: number, left: number, right: number): void {
  let carry = 0
  for (let limb = SUM_BYTES - LIMB_BYTES; limb >= 0; limb -= LIMB_BYTES) {
    const sum = buffer.readUInt32BE(left + limb) + buffer.readUInt32BE(right + limb) + carry
    carry = sum >= LIMB_VALUE ? 1 : 0
    buffer.writeUInt32BE(sum % LIMB_VALUE, at + limb)
  }
  if (carry !== 0) throw new RangeError('A sum of liabilities does not fit.')
}

/** Units of a decimal, which may be negative. Throws a RangeError for what is none, or is finer than a unit. */
export function unitsOf(decimal: string): bigint {
  const [, sign = '', whole = '', fraction = ''] = DECIMAL.exec(decimal) ?? []
  if (whole === '' || /[1-9]/.test(fraction.slice(DECIMALS))) throw new RangeError('This is no number of units.')
  const units = BigInt(whole + fraction.slice(0, DECIMALS).padEnd(DECIMALS, '0'))
  return sign === '-' ? -units : units
}

/** Minimal form: no exponent, no trailing zeros (`100.5`, `0`). */
export function decimalOf(units: bigint): string {
  const digits = String(units < 0n ? -units : units).padStart(DECIMALS + 1, '0')
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${digits.slice(0, -DECIMALS)}${fraction === '' ? '' : `.${fraction}`}`
}
