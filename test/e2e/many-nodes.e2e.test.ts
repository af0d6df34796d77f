/**
 * Goal: nodes are harmed, join and leave under steady load, and nothing that a client was told is lost or done twice
 * (I2, I3); every shard is back soon (I11). Real processes, real signals, severed wires.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LedgerClient } from '../support/client.ts'
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

test('a node that is told to end gives its shards away', async () => {
  await harmed('SIGTERM of a node', async () => {
    part('node-1').signal('SIGTERM')
    await part('node-1').exited
  })
})

test('a node that comes back is given shards', async () => {
  await harmed('a node joins', async () => void (await cluster.startNode('node-1')))
})

test('the shards of a node that is killed are taken by others', async () => {
  await harmed('SIGKILL of a node', () => part('node-2').signal('SIGKILL'))
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
