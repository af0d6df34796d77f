/** Attacks on accounts, amounts and memos. Their only input is rows, and amounts that some account holders tell. */
import { type Dump, groupedBy, lengthIn, type Row, rowsOf, sizeOf, textIn } from './dump.ts'
import type { Sides } from './analyst-links.ts'

/** Two payments of an employer belong to two paydays from this distance on: a part of the time between its first and last. */
const PAUSE = 0.1
/** Width of the window in which payments count as simultaneous: a part of the time between the first transfer and the last. */
const BURST = 0.05

/** The account with most payments in one window. */
export function guessedEmployer({ senders }: Sides): string {
  const times = senders.map(timeOf).toSorted((one, other) => one - other)
  const window = ((times.at(-1) ?? 0) - (times[0] ?? 0)) * BURST
  let best = { account: '', count: 0 }
  for (const [account, rows] of groupedBy(senders, accountOf)) {
    const paid = rows.map(timeOf).toSorted((one, other) => one - other)
    let first = 0
    for (const [last, time] of paid.entries()) {
      while (time - (paid[first] ?? 0) > window) first += 1
      if (last - first >= best.count) best = { account, count: last - first + 1 }
    }
  }
  return best.account
}

export interface RegularIncome {
  /** By account, the bucket of the first payment after each payday. */
  readonly byBucket: ReadonlyMap<string, string>
  /** By account, whether its other rows have that bucket: uses equality within one account only. */
  readonly byPattern: ReadonlyMap<string, string>
}

export function regularIncome(sides: Sides): RegularIncome {
  const employer = guessedEmployer(sides)
  const paid = sides.senders.filter((row) => accountOf(row) === employer).map(timeOf)
  const paydays = startsOf(paid.toSorted((one, other) => one - other))
  const byBucket = new Map<string, string>()
  const byPattern = new Map<string, string>()
  const sent = groupedBy(sides.senders, accountOf)
  for (const [account, rows] of groupedBy(sides.receivers, accountOf)) {
    const incoming = rows.toSorted((one, other) => timeOf(one) - timeOf(other))
    const first = paydays
      .map((payday) => incoming.find((row) => timeOf(row) >= payday))
      .filter((row) => row !== undefined)
    const bucket = mostFrequent(first.map(bucketOf))
    const others = [...incoming.filter((row) => !first.includes(row)), ...(sent.get(account) ?? [])]
    byBucket.set(account, bucket)
    byPattern.set(account, String(others.some((row) => bucketOf(row) === bucket)))
  }
  return { byBucket, byPattern }
}

function startsOf(times: readonly number[]): readonly number[] {
  const pause = ((times.at(-1) ?? 0) - (times[0] ?? 0)) * PAUSE
  return times.filter((time, index) => index === 0 || time - (times[index - 1] ?? 0) > pause)
}

export interface GuessedBalance {
  readonly least: number
  readonly most: number
  /** Each amount taken for the mean of the known ones of its type and bucket. */
  readonly likely: number
}

/** `known`: amounts by transaction ID. Guesses the balance of each account whose buckets all occur among the known rows. */
export function guessedBalances(
  { senders, receivers }: Sides,
  known: ReadonlyMap<string, number>,
): ReadonlyMap<string, GuessedBalance> {
  const amountsBy = (keyOf: (row: Row) => string): ReadonlyMap<string, readonly number[]> => {
    const rows = [...senders, ...receivers].filter((row) => known.has(textIn(row, 'txn_id')))
    const amountsOf = (group: readonly Row[]) => group.map((row) => known.get(textIn(row, 'txn_id')) ?? 0)
    return new Map([...groupedBy(rows, keyOf)].map(([key, group]) => [key, amountsOf(group)]))
  }
  const ofBucket = amountsBy(bucketOf)
  const ofKind = amountsBy(kindOf)
  const sumOf = (rows: readonly Row[], sizeIn: (row: Row) => number): number =>
    rows.reduce((sum, row) => sum + sizeIn(row), 0)
  const leastOf = (row: Row): number => 10 ** Math.floor(Math.log10(ofBucket.get(bucketOf(row))?.[0] ?? Number.NaN))
  const mostOf = (row: Row): number => 10 * leastOf(row)
  const likelyOf = (row: Row): number => meanOf(ofKind.get(kindOf(row)) ?? ofBucket.get(bucketOf(row)) ?? [])
  const sent = groupedBy(senders, accountOf)
  const guessed = [...groupedBy(receivers, accountOf)].map(([account, incoming]): [string, GuessedBalance] => {
    const outgoing = sent.get(account) ?? []
    const least = Math.max(0, sumOf(incoming, leastOf) - sumOf(outgoing, mostOf))
    const most = sumOf(incoming, mostOf) - sumOf(outgoing, leastOf)
    return [account, { least, most, likely: sumOf(incoming, likelyOf) - sumOf(outgoing, likelyOf) }]
  })
  return new Map(guessed.filter(([, { most }]) => !Number.isNaN(most)))
}

function kindOf(row: Row): string {
  return `${row['type']} ${bucketOf(row)}`
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** The most frequent label of the known things with an equal feature; without one, of all known things. */
export function learnedLabels<T>(
  known: readonly T[],
  unknown: readonly T[],
  featureOf: (thing: T) => string,
  labelOf: (thing: T) => string,
): readonly string[] {
  const learned = new Map(
    [...groupedBy(known, featureOf)].map(([feature, things]) => [feature, mostFrequent(things.map(labelOf))]),
  )
  const usual = mostFrequent(known.map(labelOf))
  return unknown.map((thing) => learned.get(featureOf(thing)) ?? usual)
}

export function mostFrequent(labels: readonly string[]): string {
  const [first] = [...groupedBy(labels, String)].toSorted(([, one], [, other]) => other.length - one.length)
  return first?.[0] ?? ''
}

export function balanceLengths(dump: Dump): ReadonlyMap<string, number> {
  return new Map(rowsOf(dump, 'balances').map((row) => [accountOf(row), lengthIn(row, 'document')]))
}

/** How many of the texts occur as a word of any value. */
export function readableTexts(dump: Dump, texts: ReadonlySet<string>): number {
  const found = new Set<string>()
  for (const value of [...dump.values()].flatMap((rows) => rows.flatMap((row) => Object.values(row)))) {
    const text =
      value?.startsWith('\\x') === true ? Buffer.from(value.slice(2), 'hex').toString('latin1') : (value ?? '')
    for (const word of text.split(/[^\w@.-]+/)) if (texts.has(word)) found.add(word)
  }
  return found.size
}

export function accountOf(row: Row): string {
  return textIn(row, 'account_id')
}

function bucketOf(row: Row): string {
  return textIn(row, 'amount_bucket')
}

function timeOf(row: Row): number {
  return sizeOf(row['created_at'])
}
