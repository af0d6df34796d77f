/**
 * One look at everything that the ledger owes. A transaction that only reads and sees one moment throughout.
 *   S1. Each unit counts once, at the account that it is, or will be: what a balance says, and what the account's holds
 *       have taken out of it and may give back, and what messages that have not been taken in yet will add to it. Such
 *       a message takes away where value has arrived elsewhere and the balance does not know yet.
 *   S2. Per token, this sums up to the supply and what came over the boundary less what left over it; the supply as it
 *       will be when its token has taken in what it is being told. Otherwise nothing is given (I4).
 *   S3. It ends within 60 s.
 */
import type postgres from 'postgres'
import { unitsOf } from '../../actors/liabilities/sums.ts'
import { UNDELIVERED } from '../audit/in-transit.ts'
import { LiabilityBook, UnreadableLiability } from './liability-book.ts'
import { createCopyRows } from './copy-rows.ts'

export interface SnapshotOptions {
  readonly sharesEach: number
  readonly seed: Uint8Array
  /** The most balances that are taken on: it bounds the memory. */
  readonly maxRows: number
}

export type Snapshot =
  | { readonly kind: 'reconciled'; readonly asOf: string; readonly book: LiabilityBook }
  /** Tokens whose total is not what it must be, or of which somebody is owed less than nothing. */
  | { readonly kind: 'unreconciled'; readonly tokenIds: readonly string[] }

/** Value outside balances, at most: only what is under way is. */
const MAX_MOVING_ROWS = 1_000_000

/** Throws UnreadableLiability, or what the driver throws. */
export async function readSnapshot(sql: postgres.Sql, options: SnapshotOptions): Promise<Snapshot> {
  let snapshot: Snapshot | undefined
  await sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (transaction) => {
    snapshot = await readAll(transaction, options)
  })
  if (snapshot === undefined) throw new UnreadableLiability('The snapshot gave nothing.')
  return snapshot
}

async function readAll(sql: postgres.TransactionSql, options: SnapshotOptions): Promise<Snapshot> {
  const { asOf, balances } = await countBalances(sql)
  if (balances > options.maxRows) {
    throw new UnreadableLiability(`There are ${balances} balances; a proof takes at most ${options.maxRows}.`)
  }
  const { moving, expected } = await readMoving(sql)
  for (const row of await readExpected(sql)) add(expected, row.token_id, unitsOf(row.value))
  const { sharesEach, seed } = options
  const book = new LiabilityBook({ capacity: balances + moving.size, sharesEach, seed })
  const negative = new Set<string>()
  const owe = (account: Uint8Array, tokenId: string, units: bigint): void => {
    if (units > 0n) book.add(account, tokenId, units)
    else if (units < 0n) negative.add(tokenId)
  }
  await eachBalance(sql, (account, tokenId, units) => {
    owe(account, tokenId, units + takeMoving(moving, account, tokenId))
  })
  for (const [key, units] of moving) {
    const [accountId = '', tokenId = ''] = key.split(BETWEEN)
    owe(Buffer.from(accountId, 'latin1'), tokenId, units)
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

async function countBalances(sql: postgres.TransactionSql): Promise<{ asOf: string; balances: number }> {
  const [row] = await sql<{ as_of: string; balances: string }[]>`
    SELECT now()::text AS as_of, (SELECT count(*) FROM balances WHERE balance > 0) AS balances`
  if (row === undefined) throw new UnreadableLiability('The balances were not counted.')
  return { asOf: row.as_of, balances: Number(row.balances) }
}

/** No account or token has it in its ID. */
const BETWEEN = '\t'
const TOKEN_KEY = 'token '

interface Moving {
  /** By account and token; what is nobody's stands under the empty account. */
  readonly moving: Map<string, bigint>
  /** By token: what will change its supply. */
  readonly expected: Map<string, bigint>
}

interface MovingRow {
  /** The key of an actor. */
  readonly at: string
  readonly token_id: string
  readonly value: string
}

const MOVING = `
SELECT at, token_id, sum(value)::text AS value
  FROM (SELECT account_id AS at, token_id, value FROM holds WHERE token_id IS NOT NULL AND value > 0
        UNION ALL
        SELECT o.receiver, c.item ->> 0, (c.item ->> 1)::numeric
          FROM (${UNDELIVERED}) o
         CROSS JOIN LATERAL json_array_elements(o.carries::json) AS c (item)
         WHERE o.carries IS NOT NULL) every
 GROUP BY at, token_id
HAVING sum(value) <> 0
 LIMIT ${MAX_MOVING_ROWS + 1}`

/** What is in no balance yet, or no longer. */
async function readMoving(sql: postgres.TransactionSql): Promise<Moving> {
  const rows = await sql.unsafe<MovingRow[]>(MOVING)
  if (rows.length > MAX_MOVING_ROWS) throw new UnreadableLiability('Too much is under way.')
  const moving = new Map<string, bigint>()
  const expected = new Map<string, bigint>()
  for (const { at, token_id: tokenId, value } of rows) {
    const units = unitsOf(value)
    // A token that will hear of a mint or burn: its supply lags behind by as much, the other way round.
    if (at.startsWith(TOKEN_KEY)) add(expected, tokenId, -units)
    // Only accounts are owed anything: what another actor is sent is nobody's until it says whose.
    else add(moving, `${at.includes(' ') ? '' : at}${BETWEEN}${tokenId}`, units)
  }
  return { moving, expected }
}

/** What there must be of each token: its supply, and what came in over the boundary and has not left. */
async function readExpected(
  sql: postgres.TransactionSql,
): Promise<readonly { readonly token_id: string; readonly value: string }[]> {
  return sql<{ token_id: string; value: string }[]>`
    SELECT document::json ->> 'tokenId' AS token_id, document::json ->> 'totalSupply' AS value
      FROM actors WHERE kind = 'token' AND document::json ->> 'status' <> 'preparing'
    UNION ALL
    SELECT token_id, (sum(credited) - sum(debited))::text FROM boundary_totals GROUP BY token_id`
}

function takeMoving(moving: Map<string, bigint>, account: Buffer, tokenId: string): bigint {
  if (moving.size === 0) return 0n
  const key = `${account.toString('latin1')}${BETWEEN}${tokenId}`
  const units = moving.get(key)
  if (units === undefined) return 0n
  moving.delete(key)
  return units
}

function add(sums: Map<string, bigint>, key: string, units: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + units)
}

/** COPY gives a million rows in half the time of a cursor, and no objects. */
async function eachBalance(
  sql: postgres.TransactionSql,
  see: (account: Buffer, tokenId: string, units: bigint) => void,
): Promise<void> {
  const stream =
    await sql`COPY (SELECT account_id, token_id, balance FROM balances WHERE balance > 0) TO STDOUT`.readable()
  const rows = createCopyRows(3, ([account, token, balance]) => {
    if (account === undefined || token === undefined || balance === undefined) return
    see(account, token.toString('latin1'), unitsOf(balance.toString('latin1')))
  })
  await rows.readAll(stream)
  // The driver pauses its socket when the stream is full, and goes on when more is asked for: of a stream that has ended,
  // nobody asks, and the connection would be dead.
  stream._read(0)
}
