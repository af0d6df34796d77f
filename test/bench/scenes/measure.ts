/** One measured run: submissions at the highest possible rate, their outcomes, and their cost. */
import { batchSizeSince, countTransactions, lastCommit } from '../load/committed.ts'
import { type Bench, HEADROOM, say, sayOddities, WARM_UP_RATE, WARM_UP_S } from '../context.ts'
import { type Cost, costOf, startMeter } from '../report/cost.ts'
import type { FollowPlan, RunPlan, RunResult, Scenario } from '../load/load-messages.ts'

export interface Measured extends Cost {
  readonly name: string
  readonly run: RunResult
  /** Counted in the ledger, not by replies. */
  readonly completed: number
  readonly failed: number
  readonly appliedPerSecond: number
  /** Transactions per commit. */
  readonly batchSize: number
}

export interface MeasureOptions {
  /** Requests in flight; default: the bench's. */
  readonly connections?: number
  /** Submissions in each. */
  readonly perRequest?: number
  /** Whether some are polled until they are final. */
  readonly follows?: boolean
}

/** Few, so that following costs hardly anything. */
const FOLLOWED: FollowPlan = { share: 0.02, pauseMs: 20 }
/** Above the rate at which one client can get replies. */
const ONE_CLIENT_RATE = 1_000

export async function measure(
  bench: Bench,
  scenario: Scenario,
  name: string,
  { connections = bench.options.connections, perRequest = 1, follows = perRequest === 1 }: MeasureOptions = {},
): Promise<Measured> {
  const { options, client, cluster, load } = bench
  const { seconds } = options
  say(`${name}: warming up ...`)
  const warmUpRate = Math.min(WARM_UP_RATE / perRequest, connections * ONE_CLIENT_RATE)
  await load.prepare(scenario, Math.ceil(WARM_UP_S * warmUpRate))
  const planOf = (forSeconds: number): RunPlan => ({
    loop: { kind: 'closed', connections },
    seconds: forSeconds,
    ...(follows ? { followed: FOLLOWED } : {}),
  })
  const warmUp = await load.run(planOf(WARM_UP_S))
  const warmRate = (warmUp.latency.count * 1000) / warmUp.durationMs
  const wanted = Math.ceil(warmRate * HEADROOM * seconds) + connections
  say(`${name}: signing ${wanted * perRequest} submissions beforehand ...`)
  await load.prepare(scenario, wanted)
  say(`${name}: measuring for ${seconds} s ...`)
  const databaseUrl = cluster.databaseUrl()
  const since = await lastCommit(databaseUrl)
  const countBefore = await countTransactions(client)
  const stopMeter = await startMeter(cluster, load.pid)
  const run = await load.run(planOf(seconds))
  const spent = await stopMeter()
  const countAfter = await countTransactions(client)
  const completed = countAfter.completed - countBefore.completed
  const failed = countAfter.failed - countBefore.failed
  const processed = completed + failed
  if (processed < run.accepted) {
    throw new Error(`${run.accepted} submissions were acknowledged, but the ledger counts ${processed}`)
  }
  sayOddities(name, run)
  return {
    name,
    run,
    completed,
    failed,
    appliedPerSecond: (completed * 1000) / run.durationMs,
    batchSize: await batchSizeSince(databaseUrl, since),
    ...costOf(spent, processed),
  }
}
