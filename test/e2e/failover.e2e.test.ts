/**
 * The PostgreSQL server is lost and its synchronous standby is promoted. Nodes and edges stop and log the reason (N1), and
 * refuse the server until an administrator accepts it (N3); no acknowledged order is lost or applied twice (I2, I3). Real
 * servers, real replication. A standby that lacks commits: test/simulation/failover.sim.test.ts.
 */
import { beforeAll, expect, test } from 'vitest'
import { startReplicatedPostgres, type ReplicatedPostgres, withSql } from '../support/postgres/replicated-postgres.ts'
import { eachNeedsTheOneBefore } from '../support/in-turn.ts'
import type { Part } from '../support/processes/cluster-parts.ts'
import { until } from '../support/processes/cluster-process.ts'
import { Trial } from './many-nodes/trial.ts'

const NODES = ['node-1', 'node-2'] as const
const EDGE = 'edge-1'
/** A node logs either reason, depending on its first check. */
const OTHER_TIMELINE =
  /"event":"failed".*PostgreSQL is (server \d+ on timeline 00000002, which this ledger was not accepted on|not the one seen before: timeline was 00000001 and is 00000002)/
/** A node that cannot release its shards stops without a release. */
const STOPPED_WITHIN_MS = 180_000
const BACK_WITHIN_MS = 180_000

let pair: ReplicatedPostgres
let trial: Trial

beforeAll(async () => {
  trial = await Trial.start({
    nodes: NODES.length,
    edges: 1,
    shards: 8,
    natsServers: 1,
    startDatabase: (options) => startReplicatedPostgres(options, (started) => (pair = started)),
  })
  return async () => {
    process.stdout.write(trial.table())
    await trial.close()
  }
})
eachNeedsTheOneBefore()

/** Waits until each part has stopped because of the promoted server. */
async function expectRefused(parts: readonly Part[]): Promise<void> {
  await until('every part has stopped', STOPPED_WITHIN_MS, () => parts.every((part) => !part.running()))
  for (const part of parts) expect(part.lastLines()).toMatch(OTHER_TIMELINE)
}

test('N1, N3: after its promotion every node and edge stops, also a restarted one; once it is accepted they serve', async () => {
  const { cluster } = trial
  await trial.harmed('nothing', () => undefined)
  await trial.harmed('PostgreSQL is lost, its synchronous standby is promoted', async () => {
    const parts = [...NODES, EDGE].map((name) => trial.part(name))
    await pair.killPrimary()
    // The address moves before the promotion: a standby is refused, and is no reason to stop (N2).
    cluster.leadPostgresTo(pair.standby.port)
    await until('a node is refused by the standby', BACK_WITHIN_MS, () =>
      parts.some((part) => part.lastLines().includes('PostgreSQL is in recovery')),
    )
    expect(parts.filter((part) => !part.running())).toEqual([])
    await pair.promote()
    await expectRefused(parts)
    await expectRefused([await cluster.startNode('node-1'), await cluster.startEdge(EDGE)])
    await cluster.administer(['accept-server', '--yes'])
    for (const name of NODES) await cluster.startNode(name)
    await cluster.startEdge(EDGE)
  })
  expect(await trial.unserved()).toEqual([])
})

test('I2, I3, I4: it has every acknowledged order once, and value is conserved', async () => {
  expect(await trial.faults()).toEqual([])
})

test('the log goes on where it was: it has each entry once, and publishes them', async () => {
  await withSql(pair.standby.url, async (sql) => {
    // Of one moment: the load has ended, and groups may still end.
    const behind = async () => {
      const [row] = await sql<{ logged: number; published: number }[]>`
        SELECT entries.count - h.size::integer AS logged, entries.count - p.size::integer AS published
          FROM log_head h, log_published p, (
            SELECT (SELECT count(*) FROM chain_entries)::integer + (SELECT count(*) FROM administrative_entries)::integer
              AS count) entries
         WHERE entries.count > 0`
      return row
    }
    await expect.poll(behind).toEqual({ logged: 0, published: 0 })
  })
})
