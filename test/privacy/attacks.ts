/** Runs every attack on a copy and judges it by the truth. */
import { createSeededRandom, type SeededRandom } from '../simulation/kernel/sim-random.ts'
import {
  accountOf,
  balanceLengths,
  guessedBalances,
  guessedEmployer,
  learnedLabels,
  mostFrequent,
  readableTexts,
  regularIncome,
} from './analyst.ts'
import {
  type LinkGuess,
  linksByEquality,
  linksByMention,
  linksByMessages,
  linksByOrder,
  messagesBetween,
  type Sides,
  sidesOf,
} from './analyst-links.ts'
import { type Dump, lengthIn, type Row, textIn } from './dump.ts'
import {
  accuracy,
  adjustedRandIndex,
  baseRate,
  clusterAccuracy,
  correlation,
  type Figure,
  judged,
  pairRanking,
} from './judge.ts'
import type { TrueRow, Truth } from './population.ts'
import { shuffled } from './shuffled.ts'

interface Scene {
  readonly dump: Dump
  readonly sides: Sides
  readonly truth: Truth
  readonly random: SeededRandom
  readonly trueRow: (row: Row) => TrueRow
  /** True account IDs by the value that stands for them in rows. */
  readonly accounts: ReadonlyMap<string, string>
}

const ACCOMPLICES_A_TIER = 2
const MEMO_CLASS_BYTES = 128

export function attackAll(dump: Dump, truth: Truth, seed: number): readonly Figure[] {
  const sides = sidesOf(dump)
  const trueRow = (row: Row): TrueRow => {
    const found = truth.rows.get(textIn(row, 'txn_id'))
    if (found === undefined) throw new Error(`no such transaction: ${JSON.stringify(row)}`)
    return found
  }
  const all = [...sides.senders, ...sides.receivers]
  const accounts = new Map(all.map((row) => [accountOf(row), trueRow(row).account]))
  const scene: Scene = { dump, sides, truth, trueRow, accounts, random: createSeededRandom(seed, 'judge') }
  const secrets = new Set([...truth.accounts, ...[...truth.rows.values()].map(({ amount }) => amount)])
  return [
    { attack: 'plain account IDs and amounts', value: readableTexts(dump, secrets), chance: 0, deviation: 0 },
    ...linkFigures(scene),
    employerFigure(scene),
    ...tierFigures(scene),
    ...balanceFigures(scene),
    ...memoFigures(scene),
  ]
}

function linkFigures({ dump, sides, truth, trueRow, accounts, random }: Scene): Figure[] {
  const mentions = linksByMention(dump, sides, random)
  const inCommits = (guess: LinkGuess): boolean => guess.name === 'commits'
  const receiverOf = new Map(sides.receivers.map((row, index) => [trueRow(row).transfer, index]))
  const partners = sides.senders.map((row) => receiverOf.get(trueRow(row).transfer) ?? -1)
  const best = (attack: string, guesses: readonly LinkGuess[]): Figure => {
    const rated = guesses.map((guess) => ({ ...guess, value: accuracy(guess.partners, partners) }))
    const by = rated.toSorted((one, other) => other.value - one.value)[0]?.name ?? 'nothing'
    const valueOf = (permuted: readonly number[]): number =>
      Math.max(0, ...guesses.map((guess) => accuracy(guess.partners, permuted)))
    return { ...judged(attack, partners, valueOf, random), by }
  }
  const refs = [...accounts.keys()]
  const places = new Map(refs.map((ref, place) => [accounts.get(ref) ?? '', place]))
  const passed = messagesBetween(dump)
  const rank = pairRanking(refs.length, (one, other) => passed(refs[one] ?? '', refs[other] ?? ''))
  const dealing = new Map(
    sides.senders.map((row, index): [string, [string, string]] => {
      const ends = [trueRow(row).account, trueRow(sides.receivers[partners[index] ?? -1] ?? {}).account].toSorted()
      return [ends.join(), ends as [string, string]]
    }),
  )
  const rankOf = (names: readonly string[]): number => {
    const placeOf = new Map(names.map((name, index) => [name, places.get(truth.accounts[index] ?? '') ?? 0]))
    return rank([...dealing.values()].map(([one, other]) => [placeOf.get(one) ?? 0, placeOf.get(other) ?? 0]))
  }
  return [
    best('sides of a transfer: equal values', [
      ...linksByEquality(sides, false, random),
      ...mentions.filter((guess) => !inCommits(guess)),
    ]),
    best('sides of a transfer: equal times', [...linksByEquality(sides, true, random), ...mentions.filter(inCommits)]),
    best('sides of a transfer: order of commits', linksByOrder(sides)),
    best('sides of a transfer: kept messages', [
      linksByMessages(dump, sides, false),
      linksByMessages(dump, sides, true),
    ]),
    judged('pairs who deal: message counts (AUC)', truth.accounts, rankOf, random),
  ]
}

function employerFigure({ sides, truth, accounts }: Scene): Figure {
  const chance = 1 / truth.accounts.length
  const value = accounts.get(guessedEmployer(sides)) === truth.employer ? 1 : 0
  return { attack: 'employer', value, chance, deviation: Math.sqrt(chance * (1 - chance)) }
}

function tierFigures({ sides, truth, accounts, random }: Scene): Figure[] {
  const { byBucket, byPattern } = regularIncome(sides)
  const paid = [...byBucket.keys()].filter((ref) => truth.tiers.has(accounts.get(ref) ?? ''))
  const tiers = paid.map((ref) => truth.tiers.get(accounts.get(ref) ?? '') ?? 0)
  const of = (found: ReadonlyMap<string, string>): string[] => paid.map((ref) => found.get(ref) ?? '')
  const buckets = of(byBucket)
  const patterns = of(byPattern)
  const tierFigure = (by: string, valueOf: (tiers: readonly number[]) => number, base?: number): Figure =>
    judged(`salary tiers: ${by}`, tiers, valueOf, random, base)
  const rate = baseRate(tiers)
  return [
    tierFigure('amount_bucket (adjusted Rand)', (permuted) => adjustedRandIndex(buckets, permuted)),
    tierFigure('amount_bucket (accuracy)', (permuted) => clusterAccuracy(buckets, permuted), rate),
    tierFigure('equality within an account (accuracy)', (permuted) => clusterAccuracy(patterns, permuted), rate),
  ]
}

function balanceFigures({ dump, sides, truth, trueRow, accounts, random }: Scene): Figure[] {
  const accomplices = new Set(
    [0, 1, 2].flatMap((tier) =>
      [...truth.tiers].flatMap(([account, of]) => (of === tier ? [account] : [])).slice(0, ACCOMPLICES_A_TIER),
    ),
  )
  const told = [...sides.senders, ...sides.receivers].filter((row) => accomplices.has(trueRow(row).account))
  const known = new Map(told.map((row) => [textIn(row, 'txn_id'), Number(trueRow(row).amount)]))
  const balances = guessedBalances(sides, known)
  const refs = [...accounts.keys()].filter((ref) => !accomplices.has(accounts.get(ref) ?? ''))
  const trueBalances = refs.map((ref) => truth.balances.get(accounts.get(ref) ?? '') ?? 0)
  const labels = trueBalances.map(decadeOf)
  const usual = mostFrequent(labels)
  const guesses = refs.map((ref) => {
    const balance = balances.get(ref)
    return balance === undefined ? usual : decadeOf(balance.likely)
  })
  const lengthOf = balanceLengths(dump)
  const lengths = refs.map((ref) => lengthOf.get(ref) ?? 0)
  const digits = labels.map(Number)
  return [
    {
      attack: 'balances: share within an interval',
      value: refs.filter((ref) => balances.has(ref)).length / refs.length,
      chance: 0,
      deviation: 0,
    },
    judged('balances: decade (accuracy)', labels, (permuted) => accuracy(guesses, permuted), random, baseRate(labels)),
    judged('balances: length (correlation)', digits, (permuted) => Math.abs(correlation(lengths, permuted)), random),
  ]
}

function decadeOf(balance: number): string {
  return String(Math.floor(Math.log10(Math.max(1, balance))))
}

/** Lengths are judged among the rows that have a memo. */
function memoFigures({ sides, trueRow, random }: Scene): Figure[] {
  const all = [...sides.senders, ...sides.receivers].map((row) => ({ row, memo: trueRow(row).memo }))
  const featureOf = ({ row }: { readonly row: Row }): string => `${row['type']} ${lengthIn(row, 'document')}`
  const some = all.flatMap(({ row, memo }) => (memo === null ? [] : [{ row, memo }]))
  const sent = some.filter(({ row }) => trueRow(row).side === 'sender')
  const lengths = sent.map(({ row }) => lengthIn(row, 'document'))
  const memos = sent.map(({ memo }) => memo)
  const presence = all.map(({ memo }) => String(memo !== null))
  const classes = some.map(({ memo }) => String(Math.floor(memo / MEMO_CLASS_BYTES)))
  return [
    learnedFigure('memos: presence (accuracy)', all.map(featureOf), presence, random),
    judged('memos: length (correlation)', memos, (permuted) => Math.abs(correlation(lengths, permuted)), random),
    learnedFigure('memos: 4 length classes (accuracy)', some.map(featureOf), classes, random),
  ]
}

/** Half of the labels are known: they stand for an analyst's own ledger. */
function learnedFigure(
  attack: string,
  features: readonly string[],
  labels: readonly string[],
  random: SeededRandom,
): Figure {
  const order = shuffled([...features.keys()], random)
  const half = Math.floor(order.length / 2)
  const [known, unknown] = [order.slice(0, half), order.slice(half)]
  const of = (permuted: readonly string[]) => unknown.map((index) => permuted[index] ?? '')
  const valueOf = (permuted: readonly string[]): number => {
    const featureOf = (index: number): string => features[index] ?? ''
    return accuracy(
      learnedLabels(known, unknown, featureOf, (index) => permuted[index] ?? ''),
      of(permuted),
    )
  }
  return judged(attack, labels, valueOf, random, baseRate(of(labels)))
}
