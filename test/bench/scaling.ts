/**
 * Whether a second node adds to what the nodes can do. On a machine with few processors everything else would bound the
 * rate first: so each node is held to a share of one processor that leaves the others idle time.
 */
import { writeFileSync } from 'node:fs'
import { LedgerClient } from '../support/client.ts'
import { startCluster, until } from '../support/cluster-process.ts'
import { type Bench, demandAll, REGISTERING_CONNECTIONS, say } from './context.ts'
import { createCpuQuota } from './cpu-quota.ts'
import { PARTS } from './cpu.ts'
import { startLoadGenerator } from './load-generator.ts'
import { measure } from './measure.ts'
import type { BenchOptions } from './options.ts'
import type { Measured } from './report.ts'

const NODE_SHARE = 0.4
const NODES = [1, 2] as const
const SHARED_WITHIN_MS = 60_000

/** The exit code. */
export async function measureScaling(options: BenchOptions): Promise<number> {
  const measured: { readonly nodes: number; readonly run: Measured }[] = []
  for (const nodes of NODES) measured.push({ nodes, run: await measureWith({ ...options, nodes }) })
  process.stdout.write(tableOf(measured))
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(measured, null, 2)}\n`)
  return 0
}

async function measureWith(options: BenchOptions): Promise<Measured> {
  const { nodes } = options
  say(`Starting a ledger with ${nodes} nodes ...`)
  const cluster = await startCluster({ nodes, edges: options.edges })
  const load = startLoadGenerator()
  const quotas = cluster.heads('node').map(({ pid }) => {
    const quota = createCpuQuota(`ledger-bench-${pid}`, NODE_SHARE)
    quota.hold(pid)
    return quota
  })
  try {
    const client = await LedgerClient.login(cluster.origin, cluster.clients.admin)
    await until('every node has its shards', SHARED_WITHIN_MS, () => areShared(client, nodes))
    await load.setup(cluster.origin, client.token, options.accounts)
    say(`Registering ${options.accounts} accounts ...`)
    demandAll(await load.register(REGISTERING_CONNECTIONS), 201)
    const bench: Bench = { options, cluster, client, load }
    const run = await measure(bench, 'random', `${nodes} nodes`)
    client.close()
    return run
  } finally {
    load.stop()
    await cluster.stop()
    for (const quota of quotas) quota.remove()
  }
}

async function areShared(client: LedgerClient, nodes: number): Promise<boolean> {
  const shards = await client.readAll('/v1/shards', 'shards')
  const counts = new Map<unknown, number>()
  for (const { owner } of shards) counts.set(owner, (counts.get(owner) ?? 0) + 1)
  return counts.size === nodes && [...counts.values()].every((count) => count > shards.length / nodes / 2)
}

function tableOf(measured: readonly { readonly nodes: number; readonly run: Measured }[]): string {
  const [first] = measured
  const lines = measured.map(({ nodes, run }) => {
    const cost = PARTS.map((part) => `${part} ${run.cpuUs[part].toFixed(0)}`).join(', ')
    const ratio = run.appliedPerSecond / (first?.run.appliedPerSecond ?? 1)
    const busy = (run.cpuShare * 100).toFixed(0)
    return `${nodes} | ${run.appliedPerSecond.toFixed(0)} | ${ratio.toFixed(2)} | ${cost} | ${busy} %`
  })
  const title = `Each node is held to ${NODE_SHARE * 100} % of one processor.`
  const heads = 'nodes | applied/s | times one node | CPU of a transaction, us | the machine is busy'
  return `${[title, heads, ...lines].join('\n')}\n`
}
