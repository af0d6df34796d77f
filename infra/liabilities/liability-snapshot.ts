/**
 * Reads all liabilities of the ledger in one read-only transaction with one snapshot.
 *   S1. Each unit counts once, at its current or future account: in the balance, in a hold, or in a message in transit. A
 *       message may also subtract, if its value has arrived elsewhere before the balance is updated.
 *   S2. The sum of a token equals its supply, including supply changes in transit, plus credits less debits of external
 *       accounts. Otherwise the run fails (I4).
 *   S3. It ends within 60 s. The number of balances decides whether the ledger is too large.
 *   S4. A row that cannot be decrypted or fails a check ends the run.
 * Several readers read the accounts (liability-readers.ts).
 */
import type postgres from 'postgres'
import { unitsOf } from '../../runtime/liabilities/sums.ts'
import { inBatches } from '../audit/audit-reads.ts'
import type { Opened } from '../audit/opened.ts'
import { readCrossings, readTokens, readUndelivered, type ValueSource } from '../audit/value-outside-accounts.ts'
import { fetchKeys } from '../postgres/rows/opened-rows.ts'
import { placeOf } from '../vault/place.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import type { PartCounts } from './liability-accounts.ts'
import { LiabilityBook, UnreadableLiability } from './liability-book.ts'
import {
  movingKey,
  movingOf,
  owe,
  rangesOf,
  type ReaderRange,
  readTogether,
  type RunningReader,
} from './liability-readers.ts'
import { LimitExceeded } from './liability-session.ts'

export interface SnapshotOptions {
  readonly vault: RowVault
  readonly sharesEach: number
  readonly seed: Uint8Array
  /** Most balances of a run: a bound on memory and time. */
  readonly maxRows: number
  /** Called with the number of balances before the first is read. */
  readonly onCounted?: (balances: number) => void
  readonly readers: Readers
}

export interface Readers {
  /** Most readers. */
  readonly most: number
  /** Balances per reader. */
  readonly rowsEach: number
  readonly start: (range: ReaderRange) => RunningReader
}

export type Snapshot =
  | { readonly kind: 'reconciled'; readonly asOf: string; readonly book: LiabilityBook }
  /** Tokens with a wrong total, or of which an account is owed a negative amount. */
  | { readonly kind: 'unreconciled'; readonly tokenIds: readonly string[] }

/** Most pairs of account and token with value in transit. */
const MAX_MOVING = 1_000_000

/** Throws LimitExceeded (S3), UnreadableRow (S4), UnreadableLiability, or an error of the driver. */
export function readSnapshot(sql: postgres.Sql, options: SnapshotOptions): Promise<Snapshot> {
  return sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', (transaction) => readAll(transaction, options))
}

async function readAll(sql: postgres.TransactionSql, options: SnapshotOptions): Promise<Snapshot> {
  const { vault, maxRows } = options
  const { asOf, counts, shardCount } = await countParts(sql)
  const { balances } = counts
  options.onCounted?.(balances)
  if (balances > maxRows) throw new LimitExceeded({ kind: 'balances', balances, maxBalances: maxRows })
  const { moving, expected } = await readOutside({
    vault,
    fetchKeys: (names) => fetchKeys(sql, names, vault),
    inBatches: (text, parameters, take) => inBatches(sql, text, parameters, take),
  })
  const { sharesEach, seed } = options
  const bookOptions = { capacity: balances + counts.holds + moving.size, sharesEach, seed }
  const running = await startReaders(sql, options.readers, { counts, shardCount }, { ...bookOptions, moving })
  const reads = await readTogether(running)
  refuseDifference(counts, reads)
  const book = new LiabilityBook(bookOptions)
  for (const { part } of reads) book.append(part)
  const negative = new Set(reads.flatMap((read) => read.negative))
  for (const { taken } of reads) for (const key of taken) moving.delete(key)
  for (const [key, units] of moving) owe(book, negative, ...movingOf(key), units)
  const tokenIds = [...new Set([...negative, ...differences(book, expected)])].sort()
  return tokenIds.length === 0 ? { kind: 'reconciled', asOf, book } : { kind: 'unreconciled', tokenIds }
}

/** S2. */
function differences(book: LiabilityBook, expected: ReadonlyMap<string, bigint>): readonly string[] {
  const owed = new Map(book.tokens.map((tokenId, number) => [tokenId, book.totals[number] ?? 0n]))
  return [...new Set([...owed.keys(), ...expected.keys()])].filter(
    (tokenId) => (owed.get(tokenId) ?? 0n) !== (expected.get(tokenId) ?? 0n),
  )
}

interface Extent {
  readonly counts: PartCounts
  readonly shardCount: number
}

async function countParts(sql: postgres.TransactionSql): Promise<Extent & { readonly asOf: string }> {
  const [row] = await sql<{ as_of: string; balances: string; holds: string; shard_count: number }[]>`
    SELECT now()::text AS as_of, (SELECT count(*) FROM balances) AS balances, (SELECT count(*) FROM all_holds) AS holds,
           shard_count
      FROM ledger`
  if (row === undefined) throw new UnreadableLiability('The balances were not counted.')
  const counts = { balances: Number(row.balances), holds: Number(row.holds) }
  return { asOf: row.as_of, counts, shardCount: row.shard_count }
}

async function startReaders(
  sql: postgres.TransactionSql,
  { most, rowsEach, start }: Readers,
  { counts, shardCount }: Extent,
  task: Omit<ReaderRange, 'shards' | 'snapshot'>,
): Promise<readonly RunningReader[]> {
  const readers = Math.min(most, shardCount, Math.ceil(counts.balances / rowsEach))
  const snapshot = await exportSnapshot(sql)
  return rangesOf(shardCount, Math.max(1, readers)).map((shards) => start({ ...task, shards, snapshot }))
}

async function exportSnapshot(sql: postgres.TransactionSql): Promise<string> {
  const [row] = await sql<{ name: string }[]>`SELECT pg_export_snapshot() AS name`
  return row?.name ?? ''
}

/** Balances or holds that no reader has seen have no account. */
function refuseDifference(counts: PartCounts, reads: readonly { readonly counts: PartCounts }[]): void {
  const balances = reads.reduce((sum, read) => sum + read.counts.balances, 0)
  const holds = reads.reduce((sum, read) => sum + read.counts.holds, 0)
  if (balances !== counts.balances || holds !== counts.holds) {
    throw new UnreadableRow(placeOf('accounts'), 'balances or holds exist without their account')
  }
}

interface Outside {
  /** Value in transit by account and token. Value without an account has the empty account ID. */
  readonly moving: Map<string, bigint>
  /** Total of each token (S2). */
  readonly expected: Map<string, bigint>
}

async function readOutside(source: ValueSource): Promise<Outside> {
  const moving = new Map<string, bigint>()
  const expected = new Map<string, bigint>()
  await readUndelivered(source, (_, envelope) => {
    const { to, carries } = valueOf('outbox', envelope)
    for (const { tokenId, quantity } of carries) {
      const units = unitsOf(quantity)
      // A message to a token reports a mint or burn that its supply does not include yet.
      if (to.kind === 'token') add(expected, tokenId, -units)
      // Value on its way to another kind of actor belongs to no account yet.
      else add(moving, movingKey(to.kind === 'account' ? to.id : '', tokenId), units)
    }
    if (moving.size > MAX_MOVING) throw new UnreadableLiability('Too much value is in transit.')
  })
  await readTokens(source, (_, token) => {
    const { status, tokenId, totalSupply } = valueOf('actors', token)
    if (status !== 'preparing') add(expected, tokenId, unitsOf(totalSupply))
  })
  await readCrossings(source, (_, crossings) => {
    for (const { tokenId, credited, debited } of valueOf('boundary_crossings', crossings)) {
      add(expected, tokenId, unitsOf(credited) - unitsOf(debited))
    }
  })
  return { moving, expected }
}

/** S4. */
function valueOf<T>(table: string, row: Opened<T>): T {
  if (row.isOpen) return row.value
  throw new UnreadableRow(placeOf(table), row.problem)
}

function add(sums: Map<string, bigint>, key: string, units: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + units)
}
