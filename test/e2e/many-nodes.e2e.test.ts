/**
 * Goal: nodes are harmed, join and leave under steady load, and nothing that a client was told is lost or done twice
 * (I2, I3); every shard is back soon (I11). Real processes, real signals, severed wires.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LedgerClient } from '../support/client.ts'
import { until } from '../support/cluster-process.ts'
import { type ClusterParts, startParts } from '../support/cluster-parts.ts'
import { DurabilityAudit, forAll } from './durability-audit.ts'
import { type Outage, ShardLoad } from './many-nodes/shard-load.ts'

const SHARDS = 16
const BACK_WITHIN_MS = 60_000

let cluster: ClusterParts
let load: ShardLoad
let client: LedgerClient
const outages: { readonly fault: string; readonly outage: Outage }[] = []

beforeAll(async () => {
  cluster = await startParts({ nodes: 3, edges: 2, shards: SHARDS, natsServers: 1 })
  client = await LedgerClient.login(cluster.origins[0] ?? '', cluster.client)
  load = await ShardLoad.open(
    cluster.origins.map((origin) => client.at(origin)),
    SHARDS,
  )
  load.start()
})

afterAll(async () => {
  process.stdout.write(table())
  await load.finish()
  await cluster.close()
})

/** Does harm under load; what it did to the shards is told at the end. */
async function harmed(fault: string, harm: () => Promise<void> | void): Promise<Outage> {
  const outage = await load.through(harm, BACK_WITHIN_MS)
  outages.push({ fault, outage })
  return outage
}

function part(name: string) {
  const found = cluster.parts.get(name)
  if (found === undefined) throw new Error(`there is no ${name}`)
  return found
}

/** IDs of shards by owner, as the ledger says. */
async function owners(): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (const shard of await client.readAll('/v1/shards', 'shards')) {
    const owner = String(shard['owner'])
    counts.set(owner, (counts.get(owner) ?? 0) + 1)
  }
  return counts
}

/** Placement has come to rest: nobody but these nodes has shards, and each of them has some. */
async function sharedBy(...names: readonly string[]): Promise<void> {
  await until(`the shards are shared by ${names.join(', ')}`, BACK_WITHIN_MS, async () => {
    const counts = await owners()
    return counts.size === names.length && names.every((name) => (counts.get(name) ?? 0) > 0)
  })
}

test('without any harm a shard is away no longer than a round of its client takes', async () => {
  await harmed('nothing', () => undefined)
})

test('a node that is told to end gives its shards away', async () => {
  await harmed('SIGTERM of a node', async () => {
    part('node-1').signal('SIGTERM')
    await part('node-1').exited
  })
})

test('a node that comes back is given shards', async () => {
  await harmed('a node joins', async () => {
    await cluster.startNode('node-1')
    await sharedBy('node-1', 'node-2', 'node-3')
  })
})

test('a node is emptied at its administrator’s wish, and filled again', async () => {
  await harmed('a node is drained', async () => {
    await cluster.administer(['drain', 'node-3'])
    await sharedBy('node-1', 'node-2')
  })
  await cluster.administer(['drain', 'node-3', '--end'])
  await sharedBy('node-1', 'node-2', 'node-3')
})

test('the shards of a node that is killed are taken by others', async () => {
  await harmed('SIGKILL of a node', () => part('node-2').signal('SIGKILL'))
  await sharedBy('node-1', 'node-3')
  await cluster.startNode('node-2')
  await sharedBy('node-1', 'node-2', 'node-3')
})

test('the shards of a node that hangs are taken by others, and it commits nothing when it wakes', async () => {
  await harmed('SIGSTOP of a node', () => part('node-3').signal('SIGSTOP'))
  await harmed('SIGCONT of that node', () => part('node-3').signal('SIGCONT'))
  await sharedBy('node-1', 'node-2', 'node-3')
})

test('a node that is cut off from NATS loses its shards, and is given some when it is back', async () => {
  const { nats } = part('node-1').wires
  await harmed('a node is cut off from NATS', () => nats.forEach((wire) => wire.sever()))
  await harmed('that node is back at NATS', () => nats.forEach((wire) => wire.restore()))
  await sharedBy('node-1', 'node-2', 'node-3')
})

test('a node that is cut off from PostgreSQL loses its shards, and is given some when it is back', async () => {
  const { postgres } = part('node-2').wires
  await harmed('a node is cut off from PostgreSQL', () => postgres.sever())
  await harmed('that node is back at PostgreSQL', () => postgres.restore())
  await sharedBy('node-1', 'node-2', 'node-3')
})

test('PostgreSQL may be restarted', async () => {
  await harmed('PostgreSQL is stopped and started', () => cluster.restartPostgres('SIGTERM'))
  await harmed('PostgreSQL is killed and started', () => cluster.restartPostgres('SIGKILL'))
})

test('nodes may be restarted one after the other', async () => {
  await harmed('a rolling restart', async () => {
    for (const name of ['node-1', 'node-2', 'node-3']) {
      part(name).signal('SIGTERM')
      await part(name).exited
      await cluster.startNode(name)
    }
    await sharedBy('node-1', 'node-2', 'node-3')
  })
})

test('I2, I3: every acknowledged submission is there, once', async () => {
  await load.finish()
  const audit = new DurabilityAudit(client)
  await forAll(load.shards, ({ holder }) =>
    audit.account(
      holder.accountId,
      load.operations.filter(({ accountId }) => accountId === holder.accountId),
    ),
  )
  expect(audit.faults).toEqual([])
  expect(audit.completed + audit.failed).toBe(load.operations.length)
})

function table(): string {
  const rows = outages.map(({ fault, outage: { gapsMs, recoveryMs, others } }) => {
    const at = (share: number): string =>
      (gapsMs[Math.min(gapsMs.length - 1, Math.floor(share * gapsMs.length))] ?? 0).toFixed(0)
    const said = [...others].map(([what, count]) => `${count} x ${what}`).join(', ')
    return [fault, at(0.5), at(0.99), at(1), recoveryMs.toFixed(0), said === '' ? 'none' : said].join(' | ')
  })
  return ['', 'fault | away p50 ms | p99 | max | recovery ms | other than 202', ...rows, ''].join('\n')
}
