/**
 * Statements that leave nothing of what they were sent and told behind once they are answered.
 *   P1. The driver gives each query two functions by assignment. V8 makes such functions in the memory of what is old, as
 *       parts of something that stays; they hold their query until all of that is collected, dead or not. Whatever the
 *       query still has is copied there by each minor collection: of a busy node that was most of what its collector did.
 *       So a query that is settled is emptied, of its parameters and of its rows. A query that is part of another one (a
 *       condition of a list) is not: it holds what it was given until it is collected.
 */
import type postgres from 'postgres'

/** Of a statement that is sent again and again: the server keeps it. Rejects as the driver does. */
export function prepared<Row extends object>(
  sql: postgres.ISql,
  text: string,
  parameters: readonly (string | number | null)[],
): Promise<Row[]> {
  return takeRows(sql.unsafe<Row[]>(text, [...parameters], { prepare: true }))
}

/** The rows of a query that has no other reader. Rejects as the driver does. */
export async function takeRows<Row extends object>(query: postgres.PendingQuery<Row[]> & SentQuery): Promise<Row[]> {
  try {
    const answer = await query
    const rows = [...answer]
    answer.length = 0
    return rows
  } finally {
    empty(query)
  }
}

/**
 * Members of the driver's query, and of its errors, that are not read after it has settled. The literal of a tagged query
 * stays: all calls share it, and the driver identifies queries by it.
 */
interface SentQuery {
  args?: unknown[]
  parameters?: unknown[]
  string?: string
  signature?: string
}

function empty(query: SentQuery): void {
  for (const values of [query.args, query.parameters]) if (values !== undefined) values.length = 0
  Object.assign(query, { string: '', signature: '' } satisfies SentQuery)
}
