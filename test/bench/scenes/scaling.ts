/**
 * Whether a second node increases the throughput. On a machine with few processors other resources would bound the rate
 * first, so each node is limited to a share of one processor that leaves the others idle time.
 */
import { LedgerClient } from '../../support/client/client.ts'
import { until } from '../../support/processes/cluster-process.ts'
import { startFresh } from '../bench-cluster.ts'
import { demandAll, REGISTERING_CONNECTIONS, say } from '../context.ts'
import { type CpuQuota, createCpuQuota } from '../cpu-quota.ts'
import { interruptible } from '../load/interruptible.ts'
import { startLoadGenerator } from '../load/load-generator.ts'
import { thisMachine } from '../report/machine.ts'
import { measure, type Measured } from './measure.ts'
import type { BenchOptions } from '../options.ts'
import { type ScalingMeasured, writeReport } from '../report/report-json.ts'
import { renderScaling } from '../report/report.ts'
import { shardOwners } from '../shard-owners.ts'

const NODE_SHARE = 0.4
const NODES = [1, 2] as const
const SHARED_WITHIN_MS = 60_000

/** The exit code. */
export async function measureScaling(options: BenchOptions): Promise<number> {
  const measured: ScalingMeasured[] = []
  for (const nodes of NODES) measured.push({ nodes, run: await measureWith({ ...options, nodes }) })
  process.stdout.write(renderScaling(measured, NODE_SHARE))
  writeReport(options.json, { kind: 'scaling', machine: thisMachine(), scaling: measured })
  return 0
}

function measureWith(options: BenchOptions): Promise<Measured> {
  const { nodes } = options
  say(`Starting a ledger with ${nodes} nodes ...`)
  return interruptible(async ({ started, onEnd }) => {
    const quotas: CpuQuota[] = []
    onEnd(() => {
      for (const quota of quotas) quota.remove()
    })
    const cluster = await started(startFresh({ nodes, edges: options.edges }))
    const load = startLoadGenerator()
    onEnd(load.stop)
    for (const { pid } of cluster.heads('node')) {
      const quota = createCpuQuota(`ledger-bench-${pid}`, NODE_SHARE)
      quotas.push(quota)
      quota.hold(pid)
    }
    const client = await LedgerClient.login(cluster.origin, cluster.clients.admin)
    onEnd(() => client.close())
    await until('every node has its shards', SHARED_WITHIN_MS, () => areShared(client, nodes))
    await load.setup(cluster.origin, client.token, options.accounts)
    say(`Registering ${options.accounts} accounts ...`)
    demandAll(await load.register(REGISTERING_CONNECTIONS), 201)
    return measure({ options, cluster, client, load }, 'random', `${nodes} nodes`)
  })
}

async function areShared(client: LedgerClient, nodes: number): Promise<boolean> {
  const counts = [...(await shardOwners(client)).values()]
  const all = counts.reduce((sum, count) => sum + count, 0)
  return counts.length === nodes && counts.every((count) => count > all / nodes / 2)
}
