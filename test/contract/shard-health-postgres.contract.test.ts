/** Shard health in PostgreSQL: the contract, and what only a database can get wrong. */
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countShards } from '../../infra/postgres/store/ownership.ts'
import { probeSession } from '../../infra/postgres/store/sessions.ts'
import { createShardHealth, type PostgresShardHealth } from '../../infra/postgres/reads/shard-health-postgres.ts'
import { ShardHealthUnavailable } from '../../runtime/ports/shard-health.ts'
import { createLedgerDatabase, type LedgerDatabase } from '../support/postgres/ledger-database.ts'
import { CONTRACT_SHARDS, shardHealthContract, type StagedShard } from './shard-health.contract.ts'

async function stage(sql: postgres.Sql, shard: StagedShard): Promise<void> {
  const { shardId, owner, epoch, ownedForMs, silentForMs, completed, failed } = shard
  const session = owner === null ? null : `session-${shardId}`
  const ago = (ms: number) => sql`now() - ${ms} * interval '1 millisecond'`
  await sql`DELETE FROM sessions WHERE session = ${`session-${shardId}`}`
  if (session !== null) {
    await sql`
      INSERT INTO sessions (session, node_id, started_at, probed_at)
      VALUES (${session}, ${owner}, now(), ${ago(silentForMs)})`
  }
  await sql`
    UPDATE shards SET node_id = ${owner}, session = ${session}, epoch = ${epoch}, attempt = 0,
                      updated_at = ${ago(ownedForMs)}
     WHERE shard_id = ${shardId}`
  await sql`DELETE FROM shard_counts WHERE shard_id = ${shardId}`
  await sql`INSERT INTO shard_counts (shard_id, completed, failed) VALUES (${shardId}, ${completed}, 0)`
  await sql`DELETE FROM commit_counts WHERE shard_ids = ARRAY[${shardId}::integer]`
  await sql`
    INSERT INTO commit_counts (shard_ids, completed, failed)
    VALUES (ARRAY[${shardId}::integer], ARRAY[0], ARRAY[${failed}::bigint])`
}

shardHealthContract('PostgreSQL', async () => {
  const database = await createLedgerDatabase({ shardCount: CONTRACT_SHARDS })
  const sql = postgres(database.url, { max: 1, onnotice: () => undefined })
  const [health, other] = [createShardHealth({ url: database.url }), createShardHealth({ url: database.url })]
  return {
    health,
    other,
    stage: (shard) => stage(sql, shard),
    close: async () => {
      await Promise.all([health.close(), other.close(), sql.end()])
      await database.drop()
    },
  }
})

describe('ShardHealth: PostgreSQL, beside commits', () => {
  let database: LedgerDatabase
  let health: PostgresShardHealth
  let sql: postgres.Sql
  beforeAll(async () => {
    database = await createLedgerDatabase()
    health = createShardHealth({ url: database.url })
    sql = postgres(database.url, { max: 1, onnotice: () => undefined })
  })
  afterAll(async () => {
    await Promise.all([health.close(), sql.end()])
    await database.drop()
  })

  test('H3: with every row of the shards locked, as by a commit that does not end, all is read and recorded', async () => {
    await sql.begin(async (commit) => {
      await commit`SELECT FROM shards FOR UPDATE`
      const change = { shardId: 3, state: 'draining', minTxnCount: 0, recordedBy: 'ops' } as const
      expect(await health.record(change)).toMatchObject({ kind: 'recorded', shard: { healthState: 'draining' } })
      expect(await health.shards(2, 1)).toMatchObject({ shards: [{ shardId: 3, healthState: 'draining' }] })
    })
  })

  test('an owner that fenced its own commits has not just taken the shard', async () => {
    await stage(sql, {
      shardId: 4,
      owner: 'node-1',
      epoch: 2,
      ownedForMs: -600_000,
      silentForMs: -600_000,
      completed: 0,
      failed: 0,
    })
    expect((await health.shard(4))?.healthState).toBe('moving')
    await sql`UPDATE shards SET attempt = attempt + 1, updated_at = now() WHERE shard_id = 4`
    expect((await health.shard(4))?.healthState).toBe('healthy')
  })

  test('an owner whose session never proved that it commits is silent since it took the shard', async () => {
    await sql`
      UPDATE shards SET node_id = 'node-9', session = 'unheard', epoch = 3, updated_at = now() - interval '8 seconds'
       WHERE shard_id = 5`
    expect((await health.shard(5))?.healthState).toBe('moving')
  })

  test('an owner that reports failing commits has no healthy shard until they succeed', async () => {
    const owner = { nodeId: 'node-7', session: '7'.repeat(32) }
    await sql`
      UPDATE shards SET node_id = ${owner.nodeId}, session = ${owner.session}, epoch = 1, updated_at = now() - interval '1 hour'
       WHERE shard_id = 7`
    for (const [isGood, state] of [
      [true, 'healthy'],
      [false, 'unavailable'],
      [true, 'healthy'],
    ] as const) {
      await probeSession(sql, owner, isGood)
      expect((await health.shard(7))?.healthState).toBe(state)
    }
  })

  test('on a read-only server every owned shard is unavailable, also after a recent probe', async () => {
    const owner = { nodeId: 'node-8', session: '8'.repeat(32) }
    await sql`
      UPDATE shards SET node_id = ${owner.nodeId}, session = ${owner.session}, epoch = 1, updated_at = now() - interval '1 hour'
       WHERE shard_id = 8`
    await probeSession(sql, owner, true)
    const name = sql(new URL(database.url).pathname.slice(1))
    await sql`ALTER DATABASE ${name} SET default_transaction_read_only = on`
    const later = createShardHealth({ url: database.url })
    const reader = postgres(database.url, { max: 1, onnotice: () => undefined })
    expect((await later.shard(8))?.healthState).toBe('unavailable')
    expect(await countShards(reader)).toMatchObject({ served: 0 })
    await Promise.all([later.close(), reader.end()])
    await sql`ALTER DATABASE ${name} RESET default_transaction_read_only`
    expect((await health.shard(8))?.healthState).toBe('healthy')
  })

  test('who said it is kept with what was said, and is not replaced by who repeats it', async () => {
    for (const recordedBy of ['first', 'second']) {
      await health.record({ shardId: 6, state: 'draining', minTxnCount: null, recordedBy })
    }
    expect(await sql`SELECT health_state, recorded_by FROM shard_health WHERE shard_id = 6`).toEqual([
      { health_state: 'draining', recorded_by: 'first' },
    ])
  })

  test('without PostgreSQL every call says that it is unavailable, and what it says names no host', async () => {
    const lost = createShardHealth({ url: 'postgres://ledger:secret@127.0.0.1:1/ledger' })
    const outcomes = await Promise.allSettled([
      lost.shards(-1, 10),
      lost.shard(1),
      lost.record({ shardId: 1, state: 'healthy', minTxnCount: null, recordedBy: 'ops' }),
    ])
    for (const outcome of outcomes) {
      const reason: unknown = outcome.status === 'rejected' ? outcome.reason : undefined
      expect(reason).toBeInstanceOf(ShardHealthUnavailable)
      expect(String(reason)).not.toMatch(/127|secret/)
    }
    await lost.close()
  })
})
