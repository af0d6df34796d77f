/** One measured run: as many submissions as get through, what became of them, and what that cost. */
import { availableParallelism } from 'node:os'
import { batchSizeSince, countTransactions, lastCommit } from './committed.ts'
import { type Bench, HEADROOM, say, sayOddities, WARM_UP_RATE, WARM_UP_S } from './context.ts'
import { cpuPer, LEDGER_PARTS, PARTS, readCpu } from './cpu.ts'
import { meanFloor, measureFloor } from './floor.ts'
import type { RunPlan, Scenario } from './load-messages.ts'
import type { Measured } from './report.ts'

/** Of the accepted ones. */
const FOLLOWED = [{ how: 'polled', share: 0.02 }] as const

export async function measure(bench: Bench, scenario: Scenario, name: string): Promise<Measured> {
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
