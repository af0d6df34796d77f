/** Bounds on attacks with a stolen copy of the database and no keys. `npm run test:privacy` prints the figures. */
import { beforeAll, expect, test } from 'vitest'
import { attackAll } from '../privacy/attacks.ts'
import { type Dump, readDump, type Row, rowsOf, textIn } from '../privacy/dump.ts'
import { type Figure, isAtChance } from '../privacy/judge.ts'
import { live, planOf, SMALL, type Truth } from '../privacy/population.ts'
import { startCluster } from '../support/processes/cluster-process.ts'

/** `chance`: not above the chance level. A number: at most that number. */
const BOUNDS: Readonly<Record<string, 'chance' | number>> = {
  'plain account IDs and amounts': 'chance',
  // One pair of accounts in 1,024 has equal hashes of its group IDs.
  'sides of a transfer: equal values': 'chance',
  'sides of a transfer: equal times': 'chance',
  // It depends on the machine's load: the smaller the commits, the closer to 1.
  'sides of a transfer: order of commits': 1,
  'sides of a transfer: kept messages': 1,
  'pairs who deal: message counts (AUC)': 1,
  employer: 1,
  'salary tiers: amount_bucket (adjusted Rand)': 'chance',
  'salary tiers: amount_bucket (accuracy)': 'chance',
  'salary tiers: equality within an account (accuracy)': 0.9,
  'balances: share within an interval': 'chance',
  'balances: decade (accuracy)': 'chance',
  'balances: length (correlation)': 'chance',
  'memos: presence (accuracy)': 1,
  'memos: length (correlation)': 'chance',
  'memos: 4 length classes (accuracy)': 'chance',
}

/** By chance one figure in some 300 exceeds its bound. A figure fails `chance` if it exceeds it in both ledgers. */
const LEDGERS = [1, 2] as const

interface Copy {
  readonly dump: Dump
  readonly truth: Truth
}

const copies: Copy[] = []
const figures: (readonly Figure[])[] = []

beforeAll(async () => {
  for (const seed of LEDGERS) {
    const cluster = await startCluster()
    try {
      const truth = await live(cluster, planOf(SMALL, seed))
      copies.push({ truth, dump: await readDump(cluster.databaseUrl()) })
    } finally {
      await cluster.stop()
    }
  }
  figures.push(...copies.map(({ dump, truth }) => attackAll(dump, truth, 1)))
})

test('every attack has a bound', () => {
  expect(figures.map((found) => found.map(({ attack }) => attack))).toEqual(LEDGERS.map(() => Object.keys(BOUNDS)))
})

test.each(Object.entries(BOUNDS))('%s: %s', (attack, bound) => {
  const found = figures.flatMap((all) => all.filter((figure) => figure.attack === attack))
  expect(found).toHaveLength(LEDGERS.length)
  const isWithin = (figure: Figure): boolean => (bound === 'chance' ? isAtChance(figure) : figure.value <= bound)
  expect(found.some(isWithin), JSON.stringify(found)).toBe(true)
})

test('the analyst finds what a copy has in plain text', () => {
  const [copy] = copies
  if (copy === undefined) throw new Error('there is no copy')
  const missed = attackAll(withPlainRows(copy), copy.truth, 1).filter(isAtChance)
  expect(missed.map(({ attack }) => attack)).toEqual([])
})

function withPlainRows({ dump, truth }: Copy): Dump {
  const refs = new Map<string, string>()
  const transactions = rowsOf(dump, 'transactions').map((row): Row => {
    const known = truth.rows.get(textIn(row, 'txn_id'))
    if (known === undefined) return row
    const { account, transfer, amount, memo } = known
    refs.set(textIn(row, 'account_id'), account)
    return {
      ...row,
      group_id: `transfer ${transfer}`,
      planted_xid: String(transfer),
      amount,
      amount_bucket: String(Math.floor(Math.log10(Number(amount)))),
      document: ofLength(memo === null ? 0 : 1 + Math.floor(memo / 128)),
    }
  })
  const balances = rowsOf(dump, 'balances').map((row): Row => {
    const balance = truth.balances.get(refs.get(textIn(row, 'account_id')) ?? '') ?? 0
    return { ...row, document: ofLength(Math.floor(balance).toString().length) }
  })
  return new Map([...dump, ['transactions', transactions], ['balances', balances]])
}

function ofLength(bytes: number): string {
  return `\\x${'00'.repeat(bytes)}`
}
