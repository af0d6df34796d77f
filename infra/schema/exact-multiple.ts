/** Compares numbers as decimals: 19.99 is a multiple of 0.01, although their binary fractions do not divide. */

const DECIMAL = /^-?(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/

interface Decimal {
  /** The number is units × 10^exponent. */
  readonly units: bigint
  readonly exponent: number
}

export function isMultipleOf(value: number, divisor: number): boolean {
  // The exponents of two numbers differ by at most 648, which bounds the power of ten.
  const [a, b] = [decimalOf(value), decimalOf(divisor)]
  const shift = a.exponent - b.exponent
  return shift >= 0
    ? (a.units * 10n ** BigInt(shift)) % b.units === 0n
    : a.units % (b.units * 10n ** BigInt(-shift)) === 0n
}

/** JavaScript prints the shortest decimal that reads as the same number. */
function decimalOf(value: number): Decimal {
  const [, whole = '0', fraction = '', exponent = '0'] = DECIMAL.exec(String(value)) ?? []
  return { units: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length }
}
