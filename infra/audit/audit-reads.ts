/**
 * How an audit reads the ledger: one connection of its own, on which nothing can be written.
 *   R1. Statements are pages that walk an index and stop early; no snapshot outlives a statement, but for what must be
 *       seen of one moment, and that has a bound on its time, too: a snapshot that is held long costs every commit.
 */
import type postgres from 'postgres'
import { codeOf } from '../postgres/failure.ts'
import { PLAN_SETTINGS } from '../postgres/plan-settings.ts'
import { createQueryPool } from '../postgres/query-pool.ts'

/** PostgreSQL does not answer, or an audit was told to stop. Nothing is known to be wrong. */
export class AuditUnavailable extends Error {
  override readonly name = 'AuditUnavailable'
}

export type Parameter = string | number | null

export interface AuditReads {
  readonly query: Query
  /** All that is asked in `work` is answered of one moment, a minute at most. */
  readonly moment: <T>(work: (query: Query) => Promise<T>) => Promise<T>
  /** The same, of statements that read whole tables. */
  readonly wholeMoment: <T>(work: (query: Query) => Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

/** Throws AuditUnavailable. */
export type Query = <Row>(text: string, parameters?: readonly Parameter[]) => Promise<readonly Row[]>

/** R1. */
const LONGEST_MS = 60_000
const SETTINGS: Readonly<Record<string, string>> = { ...PLAN_SETTINGS, default_transaction_read_only: 'on' }
/** A whole table is read from end to end. */
const FREE_PLANS = Object.entries(PLAN_SETTINGS)
  .map(([setting, value]) => `SET LOCAL ${setting} = ${value === 'off' ? 'on' : 'auto'}`)
  .join('; ')

/** `name`: as it shows in pg_stat_activity. */
export function createAuditReads(url: string, name: string): AuditReads {
  const pool = createQueryPool({
    url,
    name,
    readsOnly: true,
    size: 1,
    statementTimeoutMs: LONGEST_MS,
    settings: SETTINGS,
    unavailable: (message, cause) => new AuditUnavailable(message, cause),
  })
  const moment = async <T>(settings: string, work: (query: Query) => Promise<T>): Promise<T> => {
    const results: { readonly value: T }[] = []
    await pool.run((sql) =>
      sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (transaction) => {
        if (settings !== '') await transaction.unsafe(settings)
        results.push({ value: await work((text, parameters) => queryOn<never>(text, parameters)(transaction)) })
      }),
    )
    const result = results.at(-1)
    if (result === undefined) throw new AuditUnavailable('The moment gave nothing.')
    return result.value
  }
  return {
    query: (text, parameters) => pool.run(queryOn(text, parameters)),
    moment: (work) => moment('', work),
    wholeMoment: (work) => moment(FREE_PLANS, work),
    close: pool.close,
  }
}

function queryOn<Row>(text: string, parameters: readonly Parameter[] = []) {
  return async (sql: postgres.Sql | postgres.TransactionSql): Promise<readonly Row[]> =>
    (await sql.unsafe(text, [...parameters], { prepare: true })) as unknown as readonly Row[]
}

/**
 * Whether the statement failed because a row holds what is no value of its kind (SQLSTATE class 22): the ledger does not
 * write such rows.
 */
export function isUnreadable(error: unknown): boolean {
  return error instanceof AuditUnavailable && codeOf(error.cause).startsWith('22')
}
