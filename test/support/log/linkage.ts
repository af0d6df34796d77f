/**
 * Statistics that tell whether entries of one account can be told apart in a log. Each is 0 on average if they cannot, with a
 * standard deviation of 1, apart from the counts of equal beginnings.
 */
export interface LoggedEntry {
  readonly entry: Buffer
  readonly account: string
  readonly sequence: number
}

export interface Linkage {
  /** Values of each byte are equally frequent: the largest deviation of a byte. */
  readonly bytes: number
  /** Each bit is as often 1 as 0. */
  readonly bits: number
  /** The same of the difference of an entry from the next one of its account. */
  readonly differences: number
  /** Two entries of one account have no more bits in common than two of different ones. */
  readonly distance: number
  /** The beginning of an entry does not tell that of the next one of its account. */
  readonly successor: number
  /** Neighbors in the log are of one account as often as by chance. */
  readonly neighbors: number
  /** The order in a batch does not tell that of a chain. */
  readonly order: number
  /** Pairs of tags, and of commitments, with the same first four bytes. */
  readonly equalBeginnings: number
}

const TAG_BYTES = 16
const PAIRS = 5_000

/** `batches`: in the order of the log. `busy`: the account whose entries are compared with the others. */
export function linkageOf(batches: readonly (readonly LoggedEntry[])[], busy: string): Linkage {
  const entries = batches.flat()
  const chain = entries
    .filter(({ account }) => account === busy)
    .toSorted((left, right) => left.sequence - right.sequence)
  const others = entries.filter(({ account }) => account !== busy)
  const next = chain.slice(1).map(({ entry }, index) => differenceOf(entry, chain[index]?.entry ?? entry))
  const beginnings = chain.map(({ entry }) => entry.readUIntBE(0, 6))
  const ranks = batches.flatMap((batch) => ranksOf(batch, busy))
  return {
    bytes: unevenBytes(entries.map(({ entry }) => entry)),
    bits: unevenBits(entries.map(({ entry }) => entry)),
    differences: unevenBytes(next),
    distance: closerPairs(chain, others),
    successor: correlation(beginnings.slice(0, -1), beginnings.slice(1)),
    neighbors: Math.max(...batches.map((batch) => Math.abs(tooFewRuns(batch, busy)))),
    order: correlation(
      ranks.map(([place]) => place),
      ranks.map(([, rank]) => rank),
    ),
    equalBeginnings: Math.max(equalPairs(entries, 0), equalPairs(entries, TAG_BYTES)),
  }
}

function differenceOf(left: Buffer, right: Buffer): Buffer {
  const difference = Buffer.alloc(left.length)
  for (let at = 0; at < left.length; at += 1) difference[at] = (left[at] ?? 0) ^ (right[at] ?? 0)
  return difference
}

/** Pearson's chi-square of each position, as a normal deviate: its cube root is almost one. */
function unevenBytes(entries: readonly Buffer[]): number {
  const freedom = 255
  const deviates = Array.from({ length: entries[0]?.length ?? 0 }, (_, at) => {
    const counts = new Uint32Array(256)
    for (const entry of entries) counts[entry[at] ?? 0] = (counts[entry[at] ?? 0] ?? 0) + 1
    const expected = entries.length / 256
    const square = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
    const part = 2 / (9 * freedom)
    return Math.abs(((square / freedom) ** (1 / 3) - (1 - part)) / Math.sqrt(part))
  })
  return Math.max(...deviates)
}

function unevenBits(entries: readonly Buffer[]): number {
  const ones = new Uint32Array(8 * (entries[0]?.length ?? 0))
  for (const entry of entries) {
    for (let bit = 0; bit < ones.length; bit += 1) {
      ones[bit] = (ones[bit] ?? 0) + (((entry[bit >> 3] ?? 0) >> (bit & 7)) & 1)
    }
  }
  return Math.max(...Array.from(ones, (count) => Math.abs(2 * count - entries.length) / Math.sqrt(entries.length)))
}

/** Pairs at fixed distances in the lists: which ones does not depend on the bytes. */
function closerPairs(chain: readonly LoggedEntry[], others: readonly LoggedEntry[]): number {
  const [same, different] = [[], []] as [number[], number[]]
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const [one, near, far] = [
      chain[pair % chain.length],
      chain[(pair * 7 + 1) % chain.length],
      others[pair % others.length],
    ]
    if (one === undefined || near === undefined || far === undefined || one === near) continue
    same.push(commonBits(one.entry, near.entry))
    different.push(commonBits(one.entry, far.entry))
  }
  const deviation = Math.sqrt((8 * (chain[0]?.entry.length ?? 1)) / 4)
  return Math.abs(mean(same) - mean(different)) / (deviation * Math.sqrt(2 / same.length))
}

function commonBits(left: Buffer, right: Buffer): number {
  let common = 0
  for (const byte of differenceOf(left, right)) for (let bits = byte ^ 255; bits > 0; bits >>= 1) common += bits & 1
  return common
}

/** The runs test: entries of the account and of the others in turn. */
function tooFewRuns(batch: readonly LoggedEntry[], busy: string): number {
  const isBusy = batch.map(({ account }) => account === busy)
  const of = isBusy.filter(Boolean).length
  const not = batch.length - of
  const runs = isBusy.filter((is, index) => index === 0 || is !== isBusy[index - 1]).length
  const expected = (2 * of * not) / batch.length + 1
  return (runs - expected) / Math.sqrt(((expected - 1) * (expected - 2)) / (batch.length - 1))
}

/** Place in the batch and rank in the chain of each entry of the account, both from 0 to 1. */
function ranksOf(batch: readonly LoggedEntry[], busy: string): readonly (readonly [number, number])[] {
  const own = batch.filter(({ account }) => account === busy)
  const rank = new Map(own.toSorted((left, right) => left.sequence - right.sequence).map((entry, at) => [entry, at]))
  return own.map((entry, place) => [place / own.length, (rank.get(entry) ?? 0) / own.length])
}

/** Pearson's coefficient as a normal deviate. */
function correlation(left: readonly number[], right: readonly number[]): number {
  const [meanLeft, meanRight] = [mean(left), mean(right)]
  let [product, squareLeft, squareRight] = [0, 0, 0]
  for (const [at, value] of left.entries()) {
    const [one, other] = [value - meanLeft, (right[at] ?? 0) - meanRight]
    product += one * other
    squareLeft += one * one
    squareRight += other * other
  }
  return (Math.abs(product) / Math.sqrt(squareLeft * squareRight || 1)) * Math.sqrt(left.length)
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function equalPairs(entries: readonly LoggedEntry[], at: number): number {
  const counts = new Map<number, number>()
  let pairs = 0
  for (const { entry } of entries) {
    const beginning = entry.readUInt32BE(at)
    const before = counts.get(beginning) ?? 0
    pairs += before
    counts.set(beginning, before + 1)
  }
  return pairs
}
