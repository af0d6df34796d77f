/**
 * One look at everything that the ledger owes. A transaction that only reads and sees one moment throughout.
 *   S1. Each unit counts once, at the account that it is, or will be: what a balance says, and what the account's holds
 *       have taken out of it and may give back, and what messages that have not been taken in yet will add to it. Such
 *       a message takes away where value has arrived elsewhere and the balance does not know yet.
 *   S2. Per token, this sums up to the supply and what came over the boundary less what left over it; the supply as it
 *       will be when its token has taken in what it is being told. Otherwise nothing is given (I4).
 *   S3. It ends within 60 s. The number of balances decides whether a ledger is too large for that.
 *   S4. A row that does not open, or is not what was written with the others, is neither passed over nor believed.
 * Accounts are read by several readers at once (liability-readers.ts).
 */
import type postgres from 'postgres'
import type { Envelope } from '../../actors/message.ts'
import { unitsOf } from '../../runtime/liabilities/sums.ts'
import { UNDELIVERED } from '../audit/in-transit.ts'
import { tokenStateOf } from '../postgres/rows/actor-documents.ts'
import { openCrossings } from '../postgres/rows/boundary-crossings.ts'
import { PLACES } from '../postgres/rows/row-sealer.ts'
import { shardKeyName } from '../vault/key-name.ts'
import { openJson } from '../vault/open-json.ts'
import { placeOf } from '../vault/place.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import { copyRows } from './copy-rows.ts'
import type { PartCounts } from './liability-accounts.ts'
import { type LiabilityBook, UnreadableLiability } from './liability-book.ts'
import { LimitExceeded } from './liability-limits.ts'
import { fetchShardKeys, movingKey, movingOf, owe, type RangeRead, readRange } from './liability-range.ts'
import { type PartRead, rangesOf, type ReaderRange, readTogether, type RunningReader } from './liability-readers.ts'

export interface SnapshotOptions {
  readonly vault: RowVault
  readonly sharesEach: number
  readonly seed: Uint8Array
  /** Limit on the balances of a run: it bounds memory and time. */
  readonly maxRows: number
  /** Called with the number of balances before the first is read. */
  readonly onCounted?: (balances: number) => void
  /** Beside the one that is here; none when left out. */
  readonly readers?: OtherReaders
}

export interface OtherReaders {
  /** With the one that is here. */
  readonly most: number
  /** One more for so many balances each. */
  readonly rowsEach: number
  readonly start: (range: ReaderRange) => RunningReader
}

export type Snapshot =
  | { readonly kind: 'reconciled'; readonly asOf: string; readonly book: LiabilityBook }
  /** Tokens whose total is not what it must be, or of which somebody is owed less than nothing. */
  | { readonly kind: 'unreconciled'; readonly tokenIds: readonly string[] }

/** Accounts and tokens of which something is under way, at most. */
const MAX_MOVING = 1_000_000

/** Throws LimitExceeded (S3), UnreadableRow (S4), UnreadableLiability, or what the driver throws. */
export async function readSnapshot(sql: postgres.Sql, options: SnapshotOptions): Promise<Snapshot> {
  let snapshot: Snapshot | undefined
  await sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (transaction) => {
    snapshot = await readAll(transaction, options)
  })
  if (snapshot === undefined) throw new UnreadableLiability('The snapshot gave nothing.')
  return snapshot
}

async function readAll(sql: postgres.TransactionSql, options: SnapshotOptions): Promise<Snapshot> {
  const { vault, maxRows } = options
  const { asOf, counts, shardCount } = await countParts(sql)
  const { balances } = counts
  options.onCounted?.(balances)
  if (balances > maxRows) throw new LimitExceeded({ kind: 'balances', balances, maxBalances: maxRows })
  await fetchShardKeys(sql, vault, shardCount)
  const { moving, expected } = await readMoving(sql, vault)
  await addSupplies(sql, vault, expected)
  await addCrossings(sql, vault, expected)
  const { own, others } = await readAccounts(sql, options, { counts, shardCount }, moving)
  refuseDifference(counts, [own, ...others])
  const { book } = own
  for (const { part } of others) book.append(part)
  const negative = new Set([own, ...others].flatMap((read) => read.negative))
  for (const { taken } of [own, ...others]) for (const key of taken) moving.delete(key)
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

async function readAccounts(
  sql: postgres.TransactionSql,
  { vault, readers, sharesEach, seed }: SnapshotOptions,
  { counts, shardCount }: Extent,
  moving: ReadonlyMap<string, bigint>,
): Promise<{ readonly own: RangeRead; readonly others: readonly PartRead[] }> {
  const common = { moving, capacity: counts.balances + counts.holds + moving.size, sharesEach, seed }
  const most = Math.min(readers?.most ?? 1, shardCount, Math.ceil(counts.balances / (readers?.rowsEach ?? 1)))
  const [shards, ...ranges] = rangesOf(shardCount, Math.max(1, most))
  if (shards === undefined) throw new UnreadableLiability('There are no shards.')
  const snapshot = ranges.length === 0 ? '' : await exportSnapshot(sql)
  const running = ranges.flatMap((range) => readers?.start({ ...common, shards: range, snapshot }) ?? [])
  return readTogether(running, (check) => readRange(sql, vault, { ...common, shards }, check))
}

async function exportSnapshot(sql: postgres.TransactionSql): Promise<string> {
  const [row] = await sql<{ name: string }[]>`SELECT pg_export_snapshot() AS name`
  return row?.name ?? ''
}

/** What was not seen with any account belongs to none. */
function refuseDifference(counts: PartCounts, reads: readonly { readonly counts: PartCounts }[]): void {
  const balances = reads.reduce((sum, read) => sum + read.counts.balances, 0)
  const holds = reads.reduce((sum, read) => sum + read.counts.holds, 0)
  if (balances !== counts.balances || holds !== counts.holds) {
    throw new UnreadableRow(placeOf('accounts'), 'there are balances or holds of one that is not there')
  }
}

interface Moving {
  /** By account and token; what is nobody's stands under the empty account. */
  readonly moving: Map<string, bigint>
  /** By token: what will change its supply. */
  readonly expected: Map<string, bigint>
}

/** What is in no balance yet, or no longer. */
async function readMoving(sql: postgres.TransactionSql, vault: RowVault): Promise<Moving> {
  const moving = new Map<string, bigint>()
  const expected = new Map<string, bigint>()
  const query = `SELECT shard_id, target_shard, number, message FROM (${UNDELIVERED}) o`
  await copyRows(sql, query, 4, (row) => {
    const shardId = row.integerAt(0)
    const place = PLACES.message(shardId, row.integerAt(1), Number(row.bigintAt(2)))
    const { to, carries } = openJson<Envelope>(vault, shardKeyName(shardId), place, row.bytesAt(3))
    for (const { tokenId, quantity } of carries) {
      const units = unitsOf(quantity)
      // A token that will hear of a mint or burn: its supply lags behind by as much, the other way round.
      if (to.kind === 'token') add(expected, tokenId, -units)
      // Only accounts are owed anything: what another actor is sent is nobody's until it says whose.
      else add(moving, movingKey(to.kind === 'account' ? to.id : '', tokenId), units)
    }
    if (moving.size > MAX_MOVING) throw new UnreadableLiability('Too much is under way.')
  })
  return { moving, expected }
}

/** What there must be of each token: its supply. */
async function addSupplies(
  sql: postgres.TransactionSql,
  vault: RowVault,
  expected: Map<string, bigint>,
): Promise<void> {
  const query = `SELECT shard_id, actor_id, version, document FROM actors WHERE kind = 'token'`
  await copyRows(sql, query, 4, (copied) => {
    const row = {
      shard_id: copied.integerAt(0),
      kind: 'token',
      actor_id: copied.textAt(1),
      version: copied.bigintAt(2),
      class_id: null,
      document: copied.bytesAt(3),
    }
    const { status, tokenId, totalSupply } = tokenStateOf(row, vault)
    if (status !== 'preparing') add(expected, tokenId, unitsOf(totalSupply))
  })
}

/** And what came in over the boundary and has not left. */
async function addCrossings(
  sql: postgres.TransactionSql,
  vault: RowVault,
  expected: Map<string, bigint>,
): Promise<void> {
  const query = 'SELECT session, number, shards, document FROM boundary_crossings'
  await copyRows(sql, query, 4, (copied) => {
    const row = {
      session: copied.textAt(0),
      number: copied.bigintAt(1),
      shards: copied.elementsAt(2).map((shard) => shard.readInt32BE(0)),
      document: copied.bytesAt(3),
    }
    for (const { tokenId, credited, debited } of openCrossings(row, vault)) {
      add(expected, tokenId, unitsOf(credited) - unitsOf(debited))
    }
  })
}

function add(sums: Map<string, bigint>, key: string, units: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + units)
}
