/** Deletes expired rows: at intervals, and in steps of bounded size. */
import type postgres from 'postgres'
import type { Sql } from '../connection/connection.ts'
import type { QueryPool } from '../connection/query-pool.ts'

/** Rows that one step may delete, and steps of one kind of row that one cleaning may take. */
const STEP_ROWS = 1_000
const STEPS = 100
const EVERY_MS = 600_000

export interface CleaningOptions {
  readonly cleanUpEveryMs?: number
  readonly onCleanUpFailed?: (error: unknown) => void
}

/** A DELETE of at most `limit` rows. */
type Deletion = (sql: Sql, limit: number) => postgres.PendingQuery<postgres.Row[]>

/** Returns the number of deleted rows. */
export async function deleteInSteps(pool: QueryPool, deletions: readonly Deletion[]): Promise<number> {
  let deleted = 0
  for (const deletion of deletions) {
    for (let steps = 0; steps < STEPS; steps += 1) {
      const { count } = await pool.run(async (sql) => await deletion(sql, STEP_ROWS))
      deleted += count
      if (count < STEP_ROWS) break
    }
  }
  return deleted
}

/** Returns a function that stops it. */
export function cleanAtIntervals(
  cleanUp: () => Promise<number>,
  { cleanUpEveryMs = EVERY_MS, onCleanUpFailed = () => undefined }: CleaningOptions,
): () => void {
  const timer = setInterval(() => void cleanUp().catch(onCleanUpFailed), cleanUpEveryMs)
  timer.unref()
  return () => clearInterval(timer)
}
