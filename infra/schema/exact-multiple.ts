/**
 * Whether one number is a whole multiple of another, of the decimals that were written: 19.99 is one of 0.01, though the
 * binary fractions nearest to them do not divide.
 */

const DECIMAL = /^-?(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/

interface Decimal {
  /** The digits without the point, as a number of units of 10^exponent. */
  readonly units: bigint
  readonly exponent: number
}

export function isMultipleOf(value: number, divisor: number): boolean {
  // A power of ten has at most 324 digits more than a number has.
  const [a, b] = [decimalOf(value), decimalOf(divisor)]
  const shift = a.exponent - b.exponent
  return shift >= 0
    ? (a.units * 10n ** BigInt(shift)) % b.units === 0n
    : a.units % (b.units * 10n ** BigInt(-shift)) === 0n
}

/** The shortest decimal that reads as this number is what JavaScript prints. */
function decimalOf(value: number): Decimal {
  const [, whole = '0', fraction = '', exponent = '0'] = DECIMAL.exec(String(value)) ?? []
  return { units: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length }
}
