/**
 * One look at the ledger, on a connection of its own: a transaction that only reads and sees one moment throughout.
 *   S1. It ends within its time, whoever waits for whom: a reader who does not read holds nothing up for longer.
 *   S2. Rows come a few at a time: what is read does not grow with what there is.
 */
import type postgres from 'postgres'
import { connect, type Connection } from '../postgres/connection/connection.ts'
import { takeRows } from '../postgres/connection/prepared.ts'

export interface Snapshot {
  readonly sql: postgres.Sql
  /** By PostgreSQL's clock, milliseconds since 1970. */
  readonly atMs: number
  /** Calls back when it has ended before it was closed: its time is over, or the connection is gone. */
  readonly onLost: (run: () => void) => void
  /** What is in flight is rejected. */
  readonly close: () => void
}

/** Rejects with an error of the driver or the network. */
export async function openSnapshot(url: string, longestMs: number): Promise<Snapshot> {
  const connection = await connect({
    url,
    applicationName: 'ledger export',
    settings: { statement_timeout: String(longestMs), default_transaction_read_only: 'on' },
  })
  const late = setTimeout(connection.destroy, longestMs)
  const close = (): void => {
    clearTimeout(late)
    connection.destroy()
  }
  try {
    return { sql: connection.sql, atMs: await begin(connection), onLost: connection.onClosed, close }
  } catch (cause) {
    close()
    throw cause
  }
}

async function begin({ sql }: Connection): Promise<number> {
  await sql`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`
  // All rows of a cursor are wanted, not the first ones soon.
  await sql`SET LOCAL cursor_tuple_fraction = 1`
  // The first statement that looks: nothing of what it sees is later than what it says.
  const [row] = await sql<{ at: number }[]>`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS at`
  if (row === undefined) throw new Error('the database does not say what time it is')
  return Math.floor(row.at)
}

export interface CursorQuery {
  /** Of one snapshot, each once. */
  readonly name: string
  /** Without user input in it. */
  readonly text: string
  readonly parameters: readonly (string | number)[]
  /** Rows that are in memory at a time. */
  readonly rowsEach: number
}

/** S2. Never an empty batch. */
export async function* batchesOf<Row extends object>(
  sql: postgres.Sql,
  { name, text, parameters, rowsEach }: CursorQuery,
): AsyncGenerator<readonly Row[], void, undefined> {
  await sql.unsafe(`DECLARE ${name} NO SCROLL CURSOR FOR ${text}`, [...parameters])
  for (;;) {
    const rows = await takeRows(sql.unsafe<Row[]>(`FETCH ${rowsEach} FROM ${name}`))
    if (rows.length > 0) yield rows
    if (rows.length < rowsEach) break
  }
  await sql.unsafe(`CLOSE ${name}`)
}

/** Whose row it is. */
export interface OfAccount {
  readonly shard_id: number
  /** The reference. */
  readonly account_id: string
}

/** Below zero: `a` comes before `b`, in the order that rows of accounts are asked for in. */
export function compareAccounts(a: OfAccount, b: OfAccount): number {
  if (a.shard_id !== b.shard_id) return a.shard_id - b.shard_id
  if (a.account_id === b.account_id) return 0
  return a.account_id < b.account_id ? -1 : 1
}

/** Rows of accounts, in their order, taken account by account. */
export class AccountRows<Row extends OfAccount> {
  private readonly batches: AsyncGenerator<readonly Row[], void, undefined>
  private held: readonly Row[] = []
  private at = 0
  private ended = false

  constructor(sql: postgres.Sql, query: CursorQuery) {
    this.batches = batchesOf<Row>(sql, query)
  }

  /** The next row of the account. `skipped`: is given rows of accounts before it, which nobody asked for. */
  async nextOf(account: OfAccount, skipped: (row: Row) => void): Promise<Row | undefined> {
    for (;;) {
      const row = await this.peek()
      const order = row === undefined ? 1 : compareAccounts(row, account)
      if (row === undefined || order > 0) return undefined
      this.at += 1
      if (order === 0) return row
      skipped(row)
    }
  }

  /** Those of no account that was asked for. */
  async rest(skipped: (row: Row) => void): Promise<void> {
    for (let row = await this.peek(); row !== undefined; row = await this.peek()) {
      this.at += 1
      skipped(row)
    }
  }

  private async peek(): Promise<Row | undefined> {
    if (this.at >= this.held.length && !this.ended) {
      const next = await this.batches.next()
      this.ended = next.done === true
      this.held = next.done === true ? [] : next.value
      this.at = 0
    }
    return this.held[this.at]
  }
}
