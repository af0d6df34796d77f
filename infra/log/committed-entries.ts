/**
 * The entries that the log does not have yet, in the order of their commits.
 *   C1. A position is the PostgreSQL cluster and the transaction number below which the log has all commits. The head's own
 *       commit has a number that is not below its position. A promoted standby or a restored copy that has the head
 *       therefore gives out no number below the position.
 *   C2. In another cluster (after a dump and restore) C1 does not hold: rows that were written there may have numbers below
 *       those in the log. Each range of the log is compared with its rows first, and gets the entries that it lacks.
 *   C3. The log waits until the cluster's numbers have passed those in the rows and in the log (log-server.ts).
 */
import type { CommittedEntries, LogPosition } from '../../runtime/ports/log-store.ts'
import type { Sql } from '../postgres/connection/connection.ts'
import { compareRows } from './compared-rows.ts'
import { readLogRows } from './log-rows.ts'
import { type LogServer, readLogServer } from './log-server.ts'

/** About the entries of a piece. A snapshot that is held long slows every commit. */
const PIECE_ROWS = 20_000

/**
 * `position`: of an earlier piece; empty: from the first commit on. A commit is never split. A piece without entries has
 * the position that was given, or that of a range in which the log lacks nothing (C2). Throws LogPaused (C3).
 */
export async function committedEntries(sql: Sql, position: LogPosition, logKey: Buffer): Promise<CommittedEntries> {
  const server = await readLogServer(sql)
  const from = await numberIn(sql, position, server)
  const lacking = await lackingFrom(sql, from, logKey)
  const { identifier, isHeldBack } = server
  if (lacking !== undefined) {
    return { ...lacking, position: `${identifier}.${lacking.position}`, hasMore: true, isHeldBack }
  }
  const entries: Buffer[] = []
  let last = from
  const isWhole = await readLogRows(sql, { from, until: BigInt(server.settled) }, logKey, ({ xid, entry }) => {
    if (entries.length >= PIECE_ROWS && xid !== last) return false
    entries.push(entry)
    last = xid
    return true
  })
  // A number that no commit of the log reached may be given out again after a crash of the server.
  if (entries.length === 0) return { entries, position, hasMore: false, isHeldBack }
  const reached = isWhole ? server.settled : String(last + 1n)
  return { entries, position: `${identifier}.${reached}`, hasMore: !isWhole, isHeldBack }
}

/** The transaction number of a position; 0 if it is of another cluster. */
async function numberIn(sql: Sql, position: LogPosition, { identifier }: LogServer): Promise<bigint> {
  const [of, xid = '0'] = position.split('.')
  if (of === identifier || position === '') return BigInt(xid)
  // Were the database brought back to the first cluster before the log is extended, its position there would be wrong.
  await sql`UPDATE log_head SET position = ${`${identifier}.0`} WHERE position = ${position}`
  return 0n
}

/** C2. Undefined: the log has no range from number `from` on. */
async function lackingFrom(
  sql: Sql,
  from: bigint,
  logKey: Buffer,
): Promise<Pick<CommittedEntries, 'entries' | 'position'> | undefined> {
  const compared = await compareRows(sql, from, logKey)
  if (compared === undefined) return undefined
  const until = compared.lacking[0]?.until ?? compared.until
  const entries = compared.lacking.filter((row) => row.until === until).map(({ entry }) => entry)
  return { entries, position: String(until) }
}
