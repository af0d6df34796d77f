/**
 * Sums of a proof of liabilities: non-negative units of 10^-18 in 32 bytes, the most significant byte first. A balance has
 * 36 digits; the sum of 10^12 balances still fits.
 */

export { formatQuantity as decimalOf, parseQuantity as unitsOf } from '../../actors/money.ts'

export const SUM_BYTES = 32

const LIMB_BYTES = 4
const LIMB_VALUE = 2 ** 32
const WORD_BITS = 64n
const LARGEST_SUM = (1n << 256n) - 1n

/** Throws a RangeError for a sum that is negative or too large. */
export function writeSum(target: Buffer, at: number, units: bigint): void {
  if (units < 0n || units > LARGEST_SUM) throw new RangeError('A sum of liabilities is out of range.')
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
