/**
 * The log does not tell which entries are of one account, although one account makes half of them. Keys and hashes are fixed,
 * so that the statistics are always the same.
 */
import { createHash } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accountLogKey, EntrySalts, logEntry } from '../../../infra/log/log-entry.ts'
import { keepLog } from '../../support/log/kept-log.ts'
import { type Linkage, linkageOf, type LoggedEntry } from '../../support/log/linkage.ts'
import { createLedgerDatabase, type LedgerDatabase } from '../../support/postgres/ledger-database.ts'

const LOG_KEY = Buffer.alloc(32, 5)
const BUSY = 'account 0'
const OTHERS = 200
const BATCHES = 5
const BATCH_ENTRIES = 4_000
/** Deviates of nine kinds, the largest of at most 384: by chance one in a million is above it. */
const BOUND = 5.5
/** Of 20,000 entries a twentieth of a pair has the same four bytes by chance. */
const MOST_EQUAL = 1

interface Committed {
  readonly account: string
  readonly sequence: number
  readonly auditHash: Buffer
}

/** Every second entry is of the busy account. */
function workload(): readonly (readonly Committed[])[] {
  const sequences = new Map<string, number>()
  return Array.from({ length: BATCHES }, (_, batch) =>
    Array.from({ length: BATCH_ENTRIES }, (_, at) => {
      const serial = batch * BATCH_ENTRIES + at
      const account = serial % 2 === 0 ? BUSY : `account ${1 + ((hashOf(`account of ${serial}`)[0] ?? 0) % OTHERS)}`
      const sequence = sequences.get(account) ?? 0
      sequences.set(account, sequence + 1)
      return { account, sequence, auditHash: hashOf(`entry ${serial}`) }
    }),
  )
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

let database: LedgerDatabase
let sql: postgres.Sql
beforeAll(async () => {
  database = await createLedgerDatabase()
  sql = postgres(database.url, { max: 1, onnotice: () => undefined })
})
afterAll(async () => {
  await sql?.end()
  await database?.drop()
})

async function commit(entries: readonly Committed[]): Promise<void> {
  const accounts = entries.map(({ account }) => account)
  const sequences = entries.map(({ sequence }) => sequence)
  const hashes = entries.map(({ auditHash }) => auditHash.toString('hex'))
  await sql`
    INSERT INTO audit_entries (shard_id, account_id, sequence, previous_hash, audit_hash, payload, commit_xid)
    SELECT 0, account, sequence, decode(repeat('00', 32), 'hex'), decode(hash, 'hex'), '', pg_current_xact_id()
      FROM unnest(${accounts}::text[], ${sequences}::bigint[], ${hashes}::text[]) AS n (account, sequence, hash)`
}

/** The entries of each batch in the order of the log, with the accounts that the log does not tell. */
async function integrated(batches: readonly (readonly Committed[])[]): Promise<readonly (readonly LoggedEntry[])[]> {
  const committed = new Map<string, Committed>()
  const salts = new Map<string, EntrySalts>()
  for (const one of batches.flat()) {
    const ofAccount = salts.get(one.account) ?? new EntrySalts(accountLogKey(LOG_KEY, one.account))
    salts.set(one.account, ofAccount)
    committed.set(logEntry(ofAccount.of(one.sequence), one.auditHash).toString('hex'), one)
  }
  const found: LoggedEntry[][] = []
  for (const batch of batches) {
    await commit(batch)
    await keepLog(database.url, LOG_KEY, async ({ heads, store, workUntil }) => {
      const first = found.flat().length
      await workUntil(() => heads.at(-1)?.size === first + batch.length)
      const all = await sql<{ content: Buffer }[]>`SELECT content FROM log_tiles WHERE level = 0 ORDER BY number`
      const entries = Buffer.concat(all.map(({ content }) => content)).subarray(first * 48)
      expect((await store.head()).edge.size).toBe(first + batch.length)
      found.push(
        Array.from({ length: batch.length }, (_, at) => {
          const entry = entries.subarray(at * 48, (at + 1) * 48)
          const one = committed.get(entry.toString('hex'))
          if (one === undefined) throw new Error('the log has an entry of no account')
          return { entry, account: one.account, sequence: one.sequence }
        }),
      )
    })
  }
  expect(new Set(found.flat().map(({ entry }) => entry.toString('hex'))).size).toBe(BATCHES * BATCH_ENTRIES)
  return found
}

function striking({ equalBeginnings, ...deviates }: Linkage): readonly string[] {
  const names = Object.entries(deviates).flatMap(([name, deviate]: [string, number]) => (deviate > BOUND ? [name] : []))
  return equalBeginnings > MOST_EQUAL ? [...names, 'equalBeginnings'] : names
}

test('two entries of one account are not linked more often than by chance, in batches of a skewed workload', async () => {
  expect(striking(linkageOf(await integrated(workload()), BUSY))).toEqual([])
})

/** The log as it would be without one of its means. */
function broken(
  saltOf: (committed: Committed) => Buffer,
  sort: (batch: readonly LoggedEntry[]) => readonly LoggedEntry[] = sorted,
): readonly string[] {
  const batches = workload().map((batch) =>
    sort(
      batch.map((one) => {
        return { entry: logEntry(saltOf(one), one.auditHash), account: one.account, sequence: one.sequence }
      }),
    ),
  )
  return striking(linkageOf(batches, BUSY))
}

function sorted(batch: readonly LoggedEntry[]): readonly LoggedEntry[] {
  return batch.toSorted((left, right) => Buffer.compare(left.entry, right.entry))
}

const properSalt = ({ account, sequence }: Committed): Buffer =>
  new EntrySalts(accountLogKey(LOG_KEY, account)).of(sequence)

test('the statistics notice each means that is left out', () => {
  expect(broken(properSalt)).toEqual([])
  const constantSalt = ({ account }: Committed): Buffer => properSalt({ account, sequence: 0 } as Committed)
  expect(broken(constantSalt)).toEqual(expect.arrayContaining(['bytes', 'bits', 'distance', 'equalBeginnings']))
  const saltOfNoKey = ({ sequence }: Committed): Buffer => hashOf(String(sequence))
  expect(broken(saltOfNoKey)).toEqual(expect.arrayContaining(['equalBeginnings']))
  // As they were committed: every second one is of the busy account, in the order of its chain.
  expect(broken(properSalt, (batch) => batch)).toEqual(expect.arrayContaining(['neighbors', 'order']))
  const byAccount = (batch: readonly LoggedEntry[]) =>
    sorted(batch).toSorted((left, right) => (left.account < right.account ? -1 : Number(left.account > right.account)))
  expect(broken(properSalt, byAccount)).toEqual(['neighbors'])
})
