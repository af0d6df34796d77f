/**
 * The PostgreSQL server is lost and its standby is promoted. With a synchronous standby no acknowledged order is lost
 * or applied twice (I2, I3). A promoted server may lack commits: nodes and edges stop and log the reason (N1), and refuse
 * the server until an administrator accepts it (N3). Real servers, real replication.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import { LedgerClient, membersOf, textOf } from '../support/client/client.ts'
import { type ClusterParts, type Part, startParts } from '../support/processes/cluster-parts.ts'
import { until } from '../support/processes/cluster-process.ts'
import { eachNeedsTheOneBefore } from '../support/in-turn.ts'
import { type ReplicatedPostgres, startReplicatedPostgres, withSql } from '../support/postgres/replicated-postgres.ts'
import { ShardLoad } from './many-nodes/shard-load.ts'
import { Trial } from './many-nodes/trial.ts'

const NODES = ['node-1', 'node-2'] as const
const EDGE = 'edge-1'
const SIZES = { nodes: NODES.length, edges: 1, shards: 8, natsServers: 1 }
/** A node logs either reason, depending on its first check. */
const OTHER_TIMELINE =
  /"event":"failed".*PostgreSQL is (server \d+ on timeline 00000002, which this ledger was not accepted on|not the one seen before: timeline was 00000001 and is 00000002)/
/** A node that cannot release its shards stops without a release. */
const STOPPED_WITHIN_MS = 180_000
const BACK_WITHIN_MS = 180_000

describe('a synchronous standby', () => {
  let pair: ReplicatedPostgres
  let trial: Trial
  beforeAll(async () => {
    trial = await Trial.start({
      ...SIZES,
      startDatabase: (options) => startReplicatedPostgres('synchronous', options, (started) => (pair = started)),
    })
    return async () => {
      process.stdout.write(trial.table())
      await trial.close()
    }
  })
  eachNeedsTheOneBefore()

  test('N1: after its promotion every node and edge stops with a reason; once it is accepted they serve', async () => {
    await trial.harmed('nothing', () => undefined)
    await trial.harmed('PostgreSQL is lost, its synchronous standby is promoted', async () => {
      const nodes = [...NODES, EDGE].map((name) => trial.part(name))
      await pair.killPrimary()
      // The address moves before the promotion: a standby is refused, and is no reason to stop (N2).
      trial.cluster.leadPostgresTo(pair.standby.port)
      await until('a node is refused by the standby', BACK_WITHIN_MS, () =>
        nodes.some((node) => node.lastLines().includes('PostgreSQL is in recovery')),
      )
      expect(nodes.filter((node) => !node.running())).toEqual([])
      await pair.promote()
      await allStopped(nodes)
      for (const node of nodes) expect(node.lastLines()).toMatch(OTHER_TIMELINE)
      await trial.cluster.administer(['accept-server', '--yes'])
      for (const name of NODES) await trial.cluster.startNode(name)
      await trial.cluster.startEdge(EDGE)
    })
    expect(await trial.unserved()).toEqual([])
  })

  test('I2, I3, I4: it has every acknowledged order once, and value is conserved', async () => {
    expect(await trial.faults()).toEqual([])
  })
})

describe('an asynchronous standby that lacks commits', () => {
  let pair: ReplicatedPostgres
  let cluster: ClusterParts
  let load: ShardLoad
  beforeAll(async () => {
    cluster = await startParts({
      ...SIZES,
      startDatabase: (options) => startReplicatedPostgres('asynchronous', options, (started) => (pair = started)),
    })
    return () => cluster.close()
  })
  beforeAll(async () => {
    const client = await LedgerClient.login(cluster.origins[0] ?? '', cluster.client)
    load = await ShardLoad.open([client], SIZES.shards)
    load.start()
    return () => load.abandon()
  })
  eachNeedsTheOneBefore()

  test('N1: in the sandbox every node and edge stops with a reason after its promotion', async () => {
    await load.through(() => pair.wire.sever(), BACK_WITHIN_MS)
    const nodes = [...NODES, EDGE].map((name) => part(name))
    const acknowledgedBefore = acknowledged()
    await pair.killPrimary()
    const onStandby = await transactionsOn(pair.standby.url)
    expect(acknowledgedBefore.filter((txnId) => !onStandby.has(txnId)).length).toBeGreaterThanOrEqual(SIZES.shards)
    await pair.promote()
    cluster.leadPostgresTo(pair.standby.port)
    await allStopped(nodes)
    for (const node of nodes) expect(node.lastLines()).toMatch(OTHER_TIMELINE)
    expect(await transactionsOn(pair.standby.url)).toEqual(onStandby)
    expect(load.surprises).toEqual([])
  })

  test('N3: restarted nodes and edges refuse it until an administrator accepts it', async () => {
    const forgetful = [await cluster.startNode('node-1'), await cluster.startEdge(EDGE)]
    await allStopped(forgetful)
    for (const one of forgetful) expect(one.lastLines()).toMatch(OTHER_TIMELINE)
    await cluster.administer(['accept-server', '--yes'])
    await load.through(async () => {
      for (const name of NODES) await cluster.startNode(name)
      await cluster.startEdge(EDGE)
    }, BACK_WITHIN_MS)
    await load.finish()
    expect(load.surprises).toEqual([])
  })

  function part(name: string): Part {
    const found = cluster.parts.get(name)
    if (found === undefined) throw new Error(`there is no ${name}`)
    return found
  }

  function acknowledged(): readonly string[] {
    return load.operations.flatMap((operation) =>
      operation.acknowledged === undefined ? [] : [textOf(membersOf(operation.acknowledged), 'txn_id')],
    )
  }
})

function allStopped(nodes: readonly Part[]): Promise<void> {
  return until('every node has stopped', STOPPED_WITHIN_MS, () => nodes.every((node) => !node.running()))
}

function transactionsOn(url: string): Promise<ReadonlySet<string>> {
  return withSql(url, async (sql) => {
    const rows = await sql<{ txn_id: string }[]>`SELECT txn_id FROM all_transactions`
    return new Set(rows.map((row) => row.txn_id))
  })
}
