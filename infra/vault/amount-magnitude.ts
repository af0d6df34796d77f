/**
 * The magnitude of an amount: the power of ten of its first non-zero digit. It is coarse, but narrows a search by amount.
 * Amounts are decimal strings with at most 18 digits on each side of the point.
 */

const OF_ZERO = -19
const LARGEST = 17

/** From -18 (0.000000000000000001) to 17; 0 for 1 to 9.9; -19 for 0. */
export function magnitudeOf(amount: string): number {
  const point = amount.indexOf('.')
  const digits = point === -1 ? amount.length : point
  const first = amount.search(/[1-9]/)
  if (first === -1) return OF_ZERO
  return first < digits ? digits - 1 - first : digits - first
}

/** The magnitudes of all amounts from `least` to `most`, both included; null: no bound. */
export function magnitudesBetween(least: string | null, most: string | null): readonly number[] {
  const from = least === null ? OF_ZERO : magnitudeOf(least)
  const to = most === null ? LARGEST : magnitudeOf(most)
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
}
