/**
 * Blinds the sums of a tree: balances are split into random shares at random leaves, so that the sums in a proof are not
 * balances. The randomness is independent of the run's seed and is not stored.
 */

/** Bytes of randomness per cut. */
export const CUT_BYTES = 16
const CUT_BITS = 128n

/**
 * Non-negative shares that add up to `units`, which has at most 128 bits. `random`: one value below 2^128 for each
 * share but the last; the cuts fall uniformly from 0 to `units`.
 */
export function splitUnits(units: bigint, random: readonly bigint[]): readonly bigint[] {
  const cuts = random.map((value) => ((units + 1n) * value) >> CUT_BITS)
  cuts.sort((one, other) => (one < other ? -1 : 1))
  let before = 0n
  const shares = cuts.map((cut) => {
    const share = cut - before
    before = cut
    return share
  })
  return [...shares, units - before]
}

/** Random 32-bit words that `dealt` uses per place. */
export const WORDS_A_PLACE = 2
const WORD_VALUE = 2 ** 32
const TOP_WORD_SHIFT = 11
/** 21 bits of one word and 32 of the other: 53 bits, the precision of a number. */
const RANDOM_VALUES = 2 ** 53

/** The numbers from 0 to `size` - 1 in random order (Fisher and Yates). `random`: two words per number. */
export function dealt(size: number, random: Uint32Array): Uint32Array {
  const places = new Uint32Array(size)
  for (let place = 0; place < size; place += 1) places[place] = place
  for (let last = size - 1; last > 0; last -= 1) {
    const value =
      ((random[last * WORDS_A_PLACE] ?? 0) >>> TOP_WORD_SHIFT) * WORD_VALUE + (random[last * WORDS_A_PLACE + 1] ?? 0)
    const other = Math.floor((value / RANDOM_VALUES) * (last + 1))
    const moved = places[last] ?? 0
    places[last] = places[other] ?? 0
    places[other] = moved
  }
  return places
}
