/**
 * Blinds a tree beside its nonces: a balance is cut into random shares, and these are dealt to random leaves, so
 * that a sum that a proof shows is nobody's balance. The randomness is given; the seed of a run cannot bring it back.
 */

/** Bytes of randomness for one cut. */
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

/** Words of 32 random bits that `dealt` takes for each place. */
export const WORDS_A_PLACE = 2
const WORD_VALUE = 2 ** 32
const TOP_WORD_SHIFT = 11
/** 21 bits of one word above the 32 of the other: 53 bits, as many as a number holds exactly. */
const RANDOM_VALUES = 2 ** 53

/** The numbers from 0 to `size` - 1 in a random order (Fisher and Yates). `random`: two words for each. */
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
