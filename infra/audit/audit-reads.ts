/**
 * Read access of an audit to the ledger, on its own read-only connections.
 *   R1. Statements read one page by an index. A snapshot lasts for one statement, except for checks that need a consistent
 *       view. Their time is limited, because a long snapshot slows every commit.
 *   R2. Larger results are read in batches, so memory is bounded.
 *   R3. A missing or damaged data key does not end the audit. Its rows are findings.
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

/** PostgreSQL is unavailable or the audit is stopping. This is not a finding. */
export class AuditUnavailable extends Error {
  override readonly name: string = 'AuditUnavailable'
}

/** A consistent snapshot exceeded its time limit (R1). */
export class MomentTooLong extends AuditUnavailable {
  override readonly name = 'MomentTooLong'
}

export type Parameter = string | number | null

export interface Reading {
  readonly query: Query
  /** Loads data keys, except missing or damaged ones (R3). */
  readonly fetchKeys: (names: readonly KeyName[]) => Promise<void>
  readonly vault: RowVault
}

/** Reads from one consistent snapshot. */
export interface Moment extends Reading {
  /** Reads all rows of a statement in batches (R2). */
  readonly inBatches: <Row extends object>(
    text: string,
    parameters: readonly Parameter[],
    take: (rows: readonly Row[]) => Promise<void>,
  ) => Promise<void>
}

export interface AuditReads extends Reading {
  /** Opens a snapshot for at most a minute. Throws MomentTooLong. */
  readonly moment: <T>(work: (moment: Moment) => Promise<T>) => Promise<T>
  /**
   * Opens a snapshot for statements that read whole tables: at most ten minutes, and one minute a statement. Throws
   * MomentTooLong.
   */
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
/** For statements that read whole tables. */
const FREE_PLANS: Readonly<Record<string, string>> = {
  default_transaction_read_only: 'on',
  cursor_tuple_fraction: '1',
  statement_timeout: String(LONGEST_MS),
}

/** `name`: shown in pg_stat_activity. */
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
  const running = pool.run((sql) =>
    sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (transaction) => {
      begun = true
      const value = await work({
        query: (text, parameters) => queryOn<never>(text, parameters)(transaction),
        fetchKeys: (names) => fetchKeys(transaction, names, vault),
        vault,
        inBatches: (text, parameters, take) => inBatches(transaction, text, parameters, take),
      })
      return { value }
    }),
  )
  const { value } = await running.catch((error: Error) => {
    throw begun && isLate(error.cause) ? new MomentTooLong(error.message, { cause: error.cause }) : error
  })
  return value
}

function isLate(cause: unknown): boolean {
  return cause instanceof DeadlinePassed || codeOf(cause) === STATEMENT_TIMEOUT
}

function queryOn<Row extends object>(text: string, parameters: readonly Parameter[] = []) {
  return async (sql: postgres.ISql): Promise<readonly Row[]> => prepared<Row>(sql, text, parameters)
}

/** A cursor in SQL leaves the connection free between two batches, for the keys of the first. */
export async function inBatches<Row extends object>(
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
