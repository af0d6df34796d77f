/**
 * One look at everything that the ledger owes. A transaction that only reads and sees one moment throughout.
 *   S1. Each unit counts once, at the account that it is, or will be: what a balance says, and what the account's holds
 *       have taken out of it and may give back, and what messages that have not been taken in yet will add to it. Such
 *       a message takes away where value has arrived elsewhere and the balance does not know yet.
 *   S2. Per token, this sums up to the supply and what came over the boundary less what left over it; the supply as it
 *       will be when its token has taken in what it is being told. Otherwise nothing is given (I4).
 *   S3. It ends within 60 s.
 *   S4. A row that does not open, or is not what was written with the others, is neither passed over nor believed.
 */
import type postgres from 'postgres'
import type { Envelope } from '../../actors/message.ts'
import { unitsOf } from '../../actors/liabilities/sums.ts'
import { UNDELIVERED } from '../audit/in-transit.ts'
import { tokenStateOf } from '../postgres/actor-documents.ts'
import { openCrossings } from '../postgres/boundary-crossings.ts'
import { PLACES } from '../postgres/row-sealer.ts'
import { LEDGER_KEY_NAME, shardKeyName } from '../vault/key-name.ts'
import { openJson } from '../vault/open-json.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { bigintOf, bytesOf, copyRows, elementsOf, integerOf, textOf } from './copy-rows.ts'
import { eachOwed, type PartCounts } from './liability-accounts.ts'
import { LiabilityBook, UnreadableLiability } from './liability-book.ts'

export interface SnapshotOptions {
  readonly vault: RowVault
  readonly sharesEach: number
  readonly seed: Uint8Array
  /** The most balances that are taken on: it bounds the memory. */
  readonly maxRows: number
}

export type Snapshot =
  | { readonly kind: 'reconciled'; readonly asOf: string; readonly book: LiabilityBook }
  /** Tokens whose total is not what it must be, or of which somebody is owed less than nothing. */
  | { readonly kind: 'unreconciled'; readonly tokenIds: readonly string[] }

/** Accounts and tokens of which something is under way, at most. */
const MAX_MOVING = 1_000_000

/** Throws UnreadableRow (S4), UnreadableLiability, or what the driver throws. */
export async function readSnapshot(sql: postgres.Sql, options: SnapshotOptions): Promise<Snapshot> {
  let snapshot: Snapshot | undefined
  await sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (transaction) => {
    snapshot = await readAll(transaction, options)
  })
  if (snapshot === undefined) throw new UnreadableLiability('The snapshot gave nothing.')
  return snapshot
}

async function readAll(sql: postgres.TransactionSql, options: SnapshotOptions): Promise<Snapshot> {
  const { vault, sharesEach, seed, maxRows } = options
  const { asOf, counts } = await countParts(sql)
  if (counts.balances > maxRows) {
    throw new UnreadableLiability(`There are ${counts.balances} balances; a proof takes at most ${maxRows}.`)
  }
  await vault.follow?.(sql)
  await fetchKeys(sql, vault)
  const { moving, expected } = await readMoving(sql, vault)
  await addSupplies(sql, vault, expected)
  await addCrossings(sql, vault, expected)
  const book = new LiabilityBook({ capacity: counts.balances + counts.holds + moving.size, sharesEach, seed })
  const negative = new Set<string>()
  const owe = (accountId: string, tokenId: string, units: bigint): void => {
    if (units > 0n) book.add(Buffer.from(accountId, 'latin1'), tokenId, units)
    else if (units < 0n) negative.add(tokenId)
  }
  await eachOwed(sql, vault, counts, (accountId, tokenId, units) => {
    owe(accountId, tokenId, units + takeMoving(moving, accountId, tokenId))
  })
  for (const [key, units] of moving) {
    const [accountId = '', tokenId = ''] = key.split(BETWEEN)
    owe(accountId, tokenId, units)
  }
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

async function countParts(sql: postgres.TransactionSql): Promise<{ asOf: string; counts: PartCounts }> {
  const [row] = await sql<{ as_of: string; balances: string; holds: string }[]>`
    SELECT now()::text AS as_of, (SELECT count(*) FROM balances) AS balances, (SELECT count(*) FROM holds) AS holds`
  if (row === undefined) throw new UnreadableLiability('The balances were not counted.')
  return { asOf: row.as_of, counts: { balances: Number(row.balances), holds: Number(row.holds) } }
}

/** Of everything but accounts, whose keys come with their rows. */
async function fetchKeys(sql: postgres.TransactionSql, vault: RowVault): Promise<void> {
  if (!vault.encrypts) return
  const [row] = await sql<{ shard_count: number }[]>`SELECT shard_count FROM ledger`
  const shards = Array.from({ length: row?.shard_count ?? 0 }, (_, shardId) => shardKeyName(shardId))
  await vault.keys.fetch(sql, [...shards, LEDGER_KEY_NAME])
}

/** No account or token has it in its ID. */
const BETWEEN = '\t'

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
  await copyRows(sql, query, 4, ([source, target, number, message]) => {
    const shardId = integerOf(source)
    const place = PLACES.message(shardId, integerOf(target), Number(bigintOf(number)))
    const { to, carries } = openJson<Envelope>(vault, shardKeyName(shardId), place, bytesOf(message))
    for (const { tokenId, quantity } of carries) {
      const units = unitsOf(quantity)
      // A token that will hear of a mint or burn: its supply lags behind by as much, the other way round.
      if (to.kind === 'token') add(expected, tokenId, -units)
      // Only accounts are owed anything: what another actor is sent is nobody's until it says whose.
      else add(moving, `${to.kind === 'account' ? to.id : ''}${BETWEEN}${tokenId}`, units)
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
  await copyRows(sql, query, 4, ([shard, actorId, version, document]) => {
    const row = {
      shard_id: integerOf(shard),
      kind: 'token',
      actor_id: textOf(actorId),
      version: bigintOf(version),
      class_id: null,
      document: bytesOf(document),
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
  await copyRows(sql, query, 4, ([session, number, shards = null, document]) => {
    const row = {
      session: textOf(session),
      number: bigintOf(number),
      shards: elementsOf(shards).map(integerOf),
      document: bytesOf(document),
    }
    for (const { tokenId, credited, debited } of openCrossings(row, vault)) {
      add(expected, tokenId, unitsOf(credited) - unitsOf(debited))
    }
  })
}

function takeMoving(moving: Map<string, bigint>, accountId: string, tokenId: string): bigint {
  if (moving.size === 0) return 0n
  const key = `${accountId}${BETWEEN}${tokenId}`
  const units = moving.get(key)
  if (units === undefined) return 0n
  moving.delete(key)
  return units
}

function add(sums: Map<string, bigint>, key: string, units: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + units)
}
