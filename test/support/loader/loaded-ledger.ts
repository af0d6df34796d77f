/** What of a load is no row of an actor: what must be so before, and what is noted after. */
import { isoTimestamp } from '../../../actors/timestamp.ts'
import { arrayLiteral } from '../../../infra/postgres/array-literal.ts'
import { connect, type Sql } from '../../../infra/postgres/connection.ts'
import { createSystemRandom } from '../../../infra/system/random-system.ts'
import type { LoadSums } from './load-chunk.ts'
import type { LoadSpan } from './load-plan.ts'

const FILLED = ['accounts', 'transactions', 'actors', 'outbox_channels', 'inbox_marks', 'boundary_totals']

/** Every message was taken in as it was sent. */
const CHANNELS = `
WITH c AS (SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS c (source, target, sent)),
marked AS (INSERT INTO inbox_marks (shard_id, source_shard, mark) SELECT target, source, sent FROM c)
INSERT INTO outbox_channels (shard_id, target_shard, sent) SELECT source, target, sent FROM c`

/** Throws an error that says why. */
export async function refuseUnlessEmpty(url: string): Promise<void> {
  await onConnection(url, async (sql) => {
    const [owned] = await sql`SELECT 1 FROM shards WHERE session IS NOT NULL LIMIT 1`
    if (owned !== undefined) throw new Error('the ledger is being served: stop its nodes in order')
    for (const table of FILLED) {
      const [found] = await sql`SELECT 1 FROM ${sql(table)} LIMIT 1`
      if (found !== undefined) throw new Error(`the ledger is not empty: there are rows in ${table}`)
    }
  })
}

/** As one session that has committed all of it counts them. */
export async function noteSums(url: string, sums: LoadSums, { startMs, endMs }: LoadSpan): Promise<void> {
  const session = createSystemRandom().hex(16)
  await onConnection(url, async (sql) => {
    await sql.begin(async (transaction) => {
      await transaction`
        INSERT INTO sessions (session, node_id, started_at, probed_at, completed_count, failed_count)
        VALUES (${session}, 'load', ${isoTimestamp(startMs)}, ${isoTimestamp(endMs)}, ${sums.completed}, ${sums.failed})`
      for (const { tokenId, credited, debited } of sums.boundary) {
        await transaction`
          INSERT INTO boundary_totals (session, token_id, credited, debited)
          VALUES (${session}, ${tokenId}, ${credited}, ${debited})`
      }
      const sources = sums.channels.map(({ source }) => source)
      const targets = sums.channels.map(({ target }) => target)
      const sent = sums.channels.map((channel) => channel.sent)
      await transaction.unsafe(
        CHANNELS,
        [sources, targets, sent].map((values) => arrayLiteral('bigint', values)),
      )
    })
  })
}

/** Statistics, and everything out of the log: what comes next pays for neither. */
export async function settleTables(url: string): Promise<void> {
  await onConnection(url, async (sql) => {
    await sql`ANALYZE`
    const [user] = await sql<{ superuser: boolean }[]>`
      SELECT rolsuper AS superuser FROM pg_roles WHERE rolname = current_user`
    if (user?.superuser === true) await sql`CHECKPOINT`
  })
}

async function onConnection(url: string, work: (sql: Sql) => Promise<void>): Promise<void> {
  const connection = await connect({ url, applicationName: 'load' })
  try {
    await work(connection.sql)
  } finally {
    await connection.end()
  }
}
