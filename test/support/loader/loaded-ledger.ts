/** What of a load is no row of an actor: what must be so before, and what is noted after. */
import { isoTimestamp } from '../../../actors/timestamp.ts'
import { arrayLiteral } from '../../../infra/postgres/array-literal.ts'
import { crossingsText } from '../../../infra/postgres/boundary-crossings.ts'
import { connect, type Sql } from '../../../infra/postgres/connection.ts'
import { PLACES } from '../../../infra/postgres/row-sealer.ts'
import { createSystemRandom } from '../../../infra/system/random-system.ts'
import { LEDGER_KEY_NAME } from '../../../infra/vault/key-name.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import { partWith } from '../ledger-rows.ts'
import type { LoadSums } from './load-chunk.ts'
import type { LoadSpan } from './load-plan.ts'

const FILLED = ['accounts', 'transactions', 'actors', 'outbox_channels', 'inbox_marks', 'boundary_crossings']

/** Which shard's it is makes no difference to a sum. */
const CROSSED = { shardId: 0, epoch: 0, attempt: 0 }

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

/** As one session that has committed all of it counts them, what crossed the boundary in one commit of one shard. */
export async function noteSums(
  url: string,
  vault: RowVault,
  sums: LoadSums,
  { startMs, endMs }: LoadSpan,
): Promise<void> {
  const session = createSystemRandom().hex(16)
  await onConnection(url, async (sql) => {
    if (vault.encrypts) await vault.keys.fetch(sql, [LEDGER_KEY_NAME])
    await sql.begin(async (transaction) => {
      await transaction`
        INSERT INTO sessions (session, node_id, started_at, probed_at)
        VALUES (${session}, 'load', ${isoTimestamp(startMs)}, ${isoTimestamp(endMs)})`
      await transaction`
        INSERT INTO shard_counts (shard_id, completed, failed)
        SELECT shard_id, sum(completed_count), sum(failed_count) FROM accounts GROUP BY shard_id`
      const crossings = crossingsText({ shards: [partWith(CROSSED, { boundary: sums.boundary })] })
      if (crossings !== undefined) {
        const sealed = vault.seal(LEDGER_KEY_NAME, PLACES.crossings(session, 1), crossings)
        await transaction`
          INSERT INTO boundary_crossings (session, number, shards, document)
          VALUES (${session}, 1, ARRAY[${CROSSED.shardId}::integer], ${Buffer.from(sealed, 'hex')})`
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
