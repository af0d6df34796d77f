/**
 * A read-only snapshot of the ledger, on its own connection.
 *   S1. It ends at its deadline, even if the consumer has stopped reading.
 *   S2. Rows come in batches. Memory does not grow with the ledger.
 */
import type postgres from 'postgres'
import { connect, type Connection } from '../postgres/connection/connection.ts'
import { takeRows } from '../postgres/connection/prepared.ts'

export interface Snapshot {
  readonly sql: postgres.Sql
  /** By PostgreSQL's clock, milliseconds since 1970. */
  readonly atMs: number
  /** Calls `run` if the snapshot ends before it is closed: at its deadline, or with its connection. */
  readonly onLost: (run: () => void) => void
  /** Rejects queries in flight. */
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
  // The cursors read all rows, so plan for the total time.
  await sql`SET LOCAL cursor_tuple_fraction = 1`
  // The first query takes the snapshot: no visible commit is later than this time.
  const [row] = await sql<{ at: number }[]>`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS at`
  if (row === undefined) throw new Error('the database returned no time')
  return Math.floor(row.at)
}

export interface CursorQuery {
  /** Unique within the snapshot. */
  readonly name: string
  /** Must not contain user input. */
  readonly text: string
  readonly parameters: readonly (string | number)[]
  /** Rows per batch. */
  readonly rowsEach: number
}

/** S2. No batch is empty. */
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

/** Account that a row belongs to. */
export interface OfAccount {
  readonly shard_id: number
  /** The reference. */
  readonly account_id: string
}

/** Order of accounts in the queries: by shard and reference. */
export function compareAccounts(a: OfAccount, b: OfAccount): number {
  if (a.shard_id !== b.shard_id) return a.shard_id - b.shard_id
  if (a.account_id === b.account_id) return 0
  return a.account_id < b.account_id ? -1 : 1
}

/** Reads rows of accounts account by account, in their order. */
export class AccountRows<Row extends OfAccount> {
  private readonly batches: AsyncGenerator<readonly Row[], void, undefined>
  private held: readonly Row[] = []
  private at = 0
  private ended = false

  constructor(sql: postgres.Sql, query: CursorQuery) {
    this.batches = batchesOf<Row>(sql, query)
  }

  /** The next row of the account. `skipped` receives rows of accounts before it. */
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

  /** Passes all remaining rows to `skipped`. */
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
