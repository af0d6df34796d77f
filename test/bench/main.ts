/**
 * Measures a ledger of its own over HTTP. Asserts nothing about speed; what it does demand is that every submission
 * that was answered with 202 is in the ledger, by the ledger's own count.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { LedgerClient } from '../support/client.ts'
import { startCluster } from '../support/cluster-process.ts'
import { batchSizeSince, countTransactions, lastCommit } from './committed.ts'
import { type Bench, demandAll, HEADROOM, say, sayOddities, WARM_UP_RATE, WARM_UP_S } from './context.ts'
import { cpuPer, LEDGER_PARTS, PARTS, readCpu } from './cpu.ts'
import { meanFloor, measureFloor } from './floor.ts'
import { startLoadGenerator } from './load-generator.ts'
import type { RunPlan, Scenario } from './load-messages.ts'
import { HELP, readOptions } from './options.ts'
import { type BenchReport, type Measured, renderReport } from './report.ts'
import { measureTransfers } from './transfers.ts'

const REGISTERING_CONNECTIONS = 64
/** Of the accepted ones. */
const FOLLOWED = [{ how: 'polled', share: 0.02 }] as const

/** The exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  if (options === undefined) {
    process.stdout.write(HELP)
    return 0
  }
  say('Starting a ledger ...')
  const cluster = await startCluster({ nodes: options.nodes, edges: options.edges })
  const load = startLoadGenerator()
  const interrupted = (): void => {
    load.stop()
    void cluster.stop().finally(() => process.exit(130))
  }
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  try {
    const client = await LedgerClient.login(cluster.origin, cluster.clients.transactor)
    const report = await measureAll({ options, cluster, client, load })
    client.close()
    process.stdout.write(`${renderReport(report)}\n`)
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
    return 0
  } catch (error) {
    say(`${error instanceof Error ? error.message : String(error)}\n\nThe ledger said last:\n${cluster.lastLines()}`)
    return 1
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted)
    load.stop()
    await cluster.stop()
  }
}

async function measureAll(bench: Bench): Promise<BenchReport> {
  const { options, client, cluster, load } = bench
  await load.setup(cluster.origin, client.token, options.accounts)
  say(`Registering ${options.accounts} accounts ...`)
  const registered = await load.register(REGISTERING_CONNECTIONS)
  demandAll(registered, 201)
  say(`Registered in ${(registered.durationMs / 1000).toFixed(1)} s.`)
  const measured = [
    await measure(bench, 'random', `${options.accounts} accounts`),
    await measure(bench, 'hot', 'one account'),
  ]
  const transfers = await measureTransfers(bench)
  const { node } = process.versions
  return {
    options,
    machine: { cores: availableParallelism(), model: cpus()[0]?.model ?? '', node },
    measured,
    transfers,
  }
}

async function measure(bench: Bench, scenario: Scenario, name: string): Promise<Measured> {
  const { options, client, cluster, load } = bench
  const { connections, seconds } = options
  say(`${name}: warming up ...`)
  await load.prepare(scenario, WARM_UP_S * WARM_UP_RATE)
  const planOf = (forSeconds: number): RunPlan => ({
    loop: { kind: 'closed', connections },
    seconds: forSeconds,
    followed: FOLLOWED,
  })
  const warmUp = await load.run(planOf(WARM_UP_S))
  const warmRate = (warmUp.latency.count * 1000) / warmUp.durationMs
  const wanted = Math.ceil(warmRate * HEADROOM * seconds) + connections
  say(`${name}: signing ${wanted} submissions beforehand ...`)
  await load.prepare(scenario, wanted)
  const floorBefore = measureFloor()
  say(`${name}: measuring for ${seconds} s ...`)
  const databaseUrl = cluster.databaseUrl()
  const since = await lastCommit(databaseUrl)
  const countBefore = await countTransactions(client)
  const cpuBefore = readCpu(cluster, load.pid)
  const run = await load.run(planOf(seconds))
  const cpuAfter = readCpu(cluster, load.pid)
  const countAfter = await countTransactions(client)
  const completed = countAfter.completed - countBefore.completed
  const failed = countAfter.failed - countBefore.failed
  const processed = completed + failed
  if (processed < run.latency.count) {
    throw new Error(`${run.latency.count} submissions were answered with 202, but the ledger counts ${processed}`)
  }
  sayOddities(name, run)
  const floor = meanFloor([floorBefore, measureFloor()])
  const cpuUs = cpuPer(cpuBefore, cpuAfter, processed)
  const ledgerCpuUs = LEDGER_PARTS.reduce((sum, part) => sum + cpuUs[part], 0)
  const allCpuUs = PARTS.reduce((sum, part) => sum + cpuUs[part], 0) * processed
  return {
    name,
    run,
    completed,
    failed,
    appliedPerSecond: (completed * 1000) / run.durationMs,
    batchSize: await batchSizeSince(databaseUrl, since),
    cpuUs,
    ledgerCpuUs,
    cpuShare: allCpuUs / (run.durationMs * 1000 * availableParallelism()),
    floor,
    floorRatio: ledgerCpuUs / (floor.verifyUs + floor.signUs),
  }
}
