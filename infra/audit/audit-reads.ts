/**
 * How an audit reads the ledger: connections of its own, on which nothing can be written.
 *   R1. Statements are pages that walk an index and stop early; no snapshot outlives a statement, but for what must be
 *       seen of one moment, and that has a bound on its time, too: a snapshot that is held long costs every commit.
 *   R2. What is larger than a page is read in batches: memory stays bounded, however large a table is.
 *   R3. A data key that is gone or was damaged ends nothing: what it sealed does not open.
 */
import type postgres from 'postgres'
import { DeadlinePassed } from '../postgres/connection/connection.ts'
import { codeOf } from '../postgres/connection/failure.ts'
import { fetchKeys } from '../postgres/rows/opened-rows.ts'
import { PLAN_SETTINGS } from '../postgres/connection/plan-settings.ts'
import { createQueryPool, type QueryPool } from '../postgres/connection/query-pool.ts'
import type { KeyName } from '../vault/key-name.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { prepared, takeRows } from '../postgres/connection/prepared.ts'

/** PostgreSQL does not answer, or an audit was told to stop. Nothing is known to be wrong. */
export class AuditUnavailable extends Error {
  override readonly name: string = 'AuditUnavailable'
}

/** A moment had begun, and took longer than it may (R1). */
export class MomentTooLong extends AuditUnavailable {
  override readonly name = 'MomentTooLong'
}

export type Parameter = string | number | null

export interface Reading {
  readonly query: Query
  /** Brings data keys into memory. Those that are gone or damaged stay away (R3). */
  readonly fetchKeys: (names: readonly KeyName[]) => Promise<void>
  readonly vault: RowVault
}

/** All that is asked is answered of one moment. */
export interface Moment extends Reading {
  /** All rows of a statement, batch after batch (R2). */
  readonly inBatches: <Row extends object>(
    text: string,
    parameters: readonly Parameter[],
    take: (rows: readonly Row[]) => Promise<void>,
  ) => Promise<void>
}

export interface AuditReads extends Reading {
  /** A minute at most. Throws MomentTooLong. */
  readonly moment: <T>(work: (moment: Moment) => Promise<T>) => Promise<T>
  /** The same, of statements that read whole tables; ten minutes at most, no statement of it more than one. Throws MomentTooLong. */
  readonly wholeMoment: <T>(work: (moment: Moment) => Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

/** Throws AuditUnavailable. */
export type Query = <Row extends object>(text: string, parameters?: readonly Parameter[]) => Promise<readonly Row[]>

/** R1. */
const LONGEST_MS = 60_000
const LONGEST_WHOLE_MS = 600_000
/** query_canceled. */
const STATEMENT_TIMEOUT = '57014'
/** R2. */
const BATCH_ROWS = 1_000
const SETTINGS: Readonly<Record<string, string>> = { ...PLAN_SETTINGS, default_transaction_read_only: 'on' }
/** A whole table is read from end to end. */
const FREE_PLANS: Readonly<Record<string, string>> = {
  default_transaction_read_only: 'on',
  cursor_tuple_fraction: '1',
  statement_timeout: String(LONGEST_MS),
}

/** `name`: as it shows in pg_stat_activity. */
export function createAuditReads(url: string, name: string, vault: RowVault): AuditReads {
  const open = (statementTimeoutMs: number, settings: Readonly<Record<string, string>>): QueryPool =>
    createQueryPool({
      url,
      name,
      readsOnly: true,
      size: 1,
      statementTimeoutMs,
      settings,
      unavailable: (message, cause) => new AuditUnavailable(message, cause),
    })
  const pool = open(LONGEST_MS, SETTINGS)
  const whole = open(LONGEST_WHOLE_MS, FREE_PLANS)
  return {
    query: (text, parameters) => pool.run(queryOn(text, parameters)),
    fetchKeys: (names) => pool.run((sql) => fetchKeys(sql, names, vault)),
    vault,
    moment: (work) => momentOn(pool, vault, work),
    wholeMoment: (work) => momentOn(whole, vault, work),
    close: async () => {
      await Promise.all([pool.close(), whole.close()])
    },
  }
}

async function momentOn<T>(pool: QueryPool, vault: RowVault, work: (moment: Moment) => Promise<T>): Promise<T> {
  let begun = false
  const results: { readonly value: T }[] = []
  const running = pool.run((sql) =>
    sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (transaction) => {
      begun = true
      results.push({
        value: await work({
          query: (text, parameters) => queryOn<never>(text, parameters)(transaction),
          fetchKeys: (names) => fetchKeys(transaction, names, vault),
          vault,
          inBatches: (text, parameters, take) => inBatches(transaction, text, parameters, take),
        }),
      })
    }),
  )
  await running.catch((error: Error) => {
    throw begun && isLate(error.cause) ? new MomentTooLong(error.message, { cause: error.cause }) : error
  })
  const result = results.at(-1)
  if (result === undefined) throw new AuditUnavailable('The moment gave nothing.')
  return result.value
}

function isLate(cause: unknown): boolean {
  return cause instanceof DeadlinePassed || codeOf(cause) === STATEMENT_TIMEOUT
}

function queryOn<Row extends object>(text: string, parameters: readonly Parameter[] = []) {
  return async (sql: postgres.ISql): Promise<readonly Row[]> => prepared<Row>(sql, text, parameters)
}

/** By a cursor in SQL: between two batches the connection is free for the keys of the first. */
async function inBatches<Row extends object>(
  sql: postgres.ISql,
  text: string,
  parameters: readonly Parameter[],
  take: (rows: readonly Row[]) => Promise<void>,
): Promise<void> {
  await sql.unsafe(`DECLARE audited NO SCROLL CURSOR FOR ${text}`, [...parameters])
  for (;;) {
    const rows = await takeRows(sql.unsafe<Row[]>(`FETCH ${BATCH_ROWS} FROM audited`))
    if (rows.length > 0) await take(rows)
    if (rows.length < BATCH_ROWS) break
  }
  await sql.unsafe('CLOSE audited')
}
