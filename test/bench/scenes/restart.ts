/**
 * The cost of a restart: the time until requests can be served, and the first submission to each of many accounts, none
 * of which is in memory, compared with a repetition.
 */
import type { Restarted } from '../bench-cluster.ts'
import { say, WARM_UP_RATE, WARM_UP_S } from '../context.ts'
import { type Cost, costOf, startMeter } from '../report/cost.ts'
import type { LedgerBench } from '../ledger-bench.ts'
import type { RunResult } from '../load/load-messages.ts'

export interface RestartMeasured extends Restarted {
  /** From the start until the first submission was acknowledged, milliseconds; it is sent when every edge is ready. */
  readonly firstAcceptedMs: number
  /** One submission to each account, none of which is in the node's memory yet. */
  readonly cold: AccountsMeasured
  /** The same again, `WARM_ROUNDS` times; the last round counts. */
  readonly warm: AccountsMeasured
}

export interface AccountsMeasured extends Cost {
  readonly accounts: number
  readonly run: RunResult
  readonly perSecond: number
}

/** In the first of these rounds some code is not compiled yet. */
const WARM_ROUNDS = 2
const LIMIT_S = 600

export async function measureRestart(bench: LedgerBench): Promise<RestartMeasured> {
  const { cluster, client, load, options } = bench
  const holder = await client.register('restart@bench')
  say('restart: stopping the ledger and starting it again ...')
  const restarted = await cluster.restart()
  const readyMs = performance.now()
  const first = await client.submit(holder, { type: 'credit', amount: '1', idempotency_key: 'first' })
  if (first.status !== 202) throw new Error(`the first submission after a restart: ${first.status} ${first.body}`)
  const firstAcceptedMs = restarted.readyMs + performance.now() - readyMs
  say('restart: warming the processes up on one account ...')
  await load.prepare('hot', WARM_UP_S * WARM_UP_RATE)
  await load.run({
    loop: { kind: 'closed', connections: options.connections },
    seconds: WARM_UP_S,
  })
  const cold = await toEach(bench, 'cold')
  let warm = await toEach(bench, 'warm')
  for (let round = 1; round < WARM_ROUNDS; round += 1) warm = await toEach(bench, 'warm')
  return { ...restarted, firstAcceptedMs, cold, warm }
}

/** One submission to each account. Throws if one was not accepted. */
async function toEach({ options, cluster, load }: LedgerBench, state: string): Promise<AccountsMeasured> {
  const { accounts, connections } = options
  await load.prepare('each', accounts)
  say(`restart: a submission to each of ${accounts} accounts, ${state} ...`)
  const stopMeter = await startMeter(cluster, load.pid)
  const run = await load.run({ loop: { kind: 'closed', connections }, seconds: LIMIT_S })
  const spent = await stopMeter()
  if (run.accepted !== accounts) {
    throw new Error(`${run.accepted} of ${accounts} submissions were acknowledged:\n${run.surprises.join('\n')}`)
  }
  return { accounts, run, perSecond: (run.accepted * 1000) / run.durationMs, ...costOf(spent, run.accepted) }
}
