/** Judges guesses by the truth. The chance level is the mean of the same figure over random permutations of the truth. */
import type { SeededRandom } from '../simulation/kernel/sim-random.ts'
import { groupedBy } from './dump.ts'
import { shuffled } from './shuffled.ts'

export interface Figure {
  readonly attack: string
  readonly value: number
  readonly chance: number
  /** Standard deviation of the figure by chance. */
  readonly deviation: number
  /** The best of several guesses. */
  readonly by?: string
}

const PERMUTATIONS = 60
const DEVIATIONS = 3
/** Tolerance for sums of floating-point numbers. */
const ROUNDING = 1e-9

export function isAtChance({ value, chance, deviation }: Figure): boolean {
  return value <= chance + DEVIATIONS * deviation + ROUNDING
}

/** `valueOf`: the figure against these labels. `base`: the figure of a guess that uses no row. */
export function judged<T>(
  attack: string,
  labels: readonly T[],
  valueOf: (labels: readonly T[]) => number,
  random: SeededRandom,
  base = Number.NEGATIVE_INFINITY,
): Figure {
  const permuted = Array.from({ length: PERMUTATIONS }, () => valueOf(shuffled(labels, random)))
  const mean = permuted.reduce((sum, value) => sum + value, 0) / PERMUTATIONS
  const variance = permuted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (PERMUTATIONS - 1)
  return { attack, value: valueOf(labels), chance: Math.max(mean, base), deviation: Math.sqrt(variance) }
}

export function accuracy(guesses: readonly unknown[], labels: readonly unknown[]): number {
  return guesses.filter((guess, index) => guess === labels[index]).length / guesses.length
}

/** Accuracy of always guessing the most frequent label. */
export function baseRate(labels: readonly (string | number)[]): number {
  return Math.max(...[...groupedBy(labels, String).values()].map((group) => group.length)) / labels.length
}

/** Hubert and Arabie 1985: 1 for equal partitions, 0 on average for independent ones. */
export function adjustedRandIndex(one: readonly (string | number)[], other: readonly (string | number)[]): number {
  const pairsIn = (labels: readonly string[]): number =>
    [...groupedBy(labels, String).values()].reduce((sum, { length }) => sum + pairs(length), 0)
  const both = pairsIn(one.map((label, index) => `${label}\n${other[index]}`))
  const [left, right] = [pairsIn(one.map(String)), pairsIn(other.map(String))]
  const expected = (left * right) / pairs(one.length)
  const most = (left + right) / 2
  return most === expected ? 0 : (both - expected) / (most - expected)
}

function pairs(count: number): number {
  return (count * (count - 1)) / 2
}

/** Best assignment of the largest clusters to the labels, one each. Other clusters get the most frequent label. */
export function clusterAccuracy(clusters: readonly string[], labels: readonly number[]): number {
  const kinds = [...groupedBy(labels, String)].toSorted(([, one], [, other]) => other.length - one.length)
  const names = kinds.map(([, group]) => group[0] ?? 0)
  const largest = [...groupedBy(clusters, String)].toSorted(([, one], [, other]) => other.length - one.length)
  const chosen = largest.slice(0, names.length).map(([cluster]) => cluster)
  const rated = ordersOf(names).map((order) =>
    accuracy(
      clusters.map((cluster) => order[chosen.indexOf(cluster)] ?? names[0]),
      labels,
    ),
  )
  return Math.max(...rated)
}

function ordersOf<T>(values: readonly T[]): T[][] {
  if (values.length === 0) return [[]]
  return values.flatMap((value, index) => ordersOf(values.toSpliced(index, 1)).map((rest) => [value, ...rest]))
}

/** Pearson's; 0 where one of the two does not vary. */
export function correlation(one: readonly number[], other: readonly number[]): number {
  const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  const [left, right] = [meanOf(one), meanOf(other)]
  const product = meanOf(one.map((value, index) => (value - left) * ((other[index] ?? 0) - right)))
  const spread = (values: readonly number[], mean: number): number =>
    Math.sqrt(meanOf(values.map((value) => (value - mean) ** 2)))
  const scale = spread(one, left) * spread(other, right)
  return scale < ROUNDING ? 0 : product / scale
}

/** Area under the ROC curve: the chance that a true pair scores more than another one. Pairs are of `count` things. */
export function pairRanking(count: number, scoreOf: (one: number, other: number) => number) {
  const counts = new Map<number, number>()
  for (let one = 1; one < count; one += 1) {
    for (let other = 0; other < one; other += 1) {
      const score = scoreOf(one, other)
      counts.set(score, (counts.get(score) ?? 0) + 1)
    }
  }
  let below = 0
  const ranks = new Map<number, number>()
  for (const [score, equal] of [...counts].toSorted(([one], [other]) => one - other)) {
    ranks.set(score, below + (equal + 1) / 2)
    below += equal
  }
  return (found: readonly (readonly [number, number])[]): number => {
    const sum = found.reduce((ranked, [one, other]) => ranked + (ranks.get(scoreOf(one, other)) ?? 0), 0)
    return (sum / found.length - (found.length + 1) / 2) / (below - found.length)
  }
}
