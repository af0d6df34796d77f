/**
 * Submissions at a constant rate, whatever becomes of those before them: a stall makes all that arrive in it late, and
 * what the ledger cannot keep up with is seen as a backlog.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { batchSizeSince, lastCommit, type Statuses, statusesSince } from './committed.ts'
import { openLoopAt, say, sayOddities } from './context.ts'
import { type Cost, costOf, startMeter } from './cost.ts'
import type { LedgerBench } from './ledger-bench.ts'
import type { RunResult } from './load-messages.ts'

/** The cost is of each that was applied, until all were. */
export interface OpenMeasured extends Cost {
  readonly name: string
  readonly offeredPerSecond: number
  /** Latencies begin when a submission was to be sent. */
  readonly run: RunResult
  /** When the last one was due: counted in the ledger. */
  readonly atEnd: Statuses
  readonly acceptedPerSecond: number
  readonly appliedPerSecond: number
  /** Due by then, and not yet answered. */
  readonly unanswered: number
  /** From then until everything was answered and nothing pending, milliseconds. */
  readonly drainedMs: number
  readonly drained: Statuses
  /** Transactions per commit. */
  readonly batchSize: number
}

/** Of what a closed loop gets through. */
const SHARES = [0.5, 0.8]
const FOLLOWED = [
  { how: 'polled', share: 0.05 },
  { how: 'waited', share: 0.01 },
] as const
const DRAIN_LIMIT_MS = 60_000
const DRAIN_POLL_MS = 50

export async function measureOpenLoop(bench: LedgerBench): Promise<readonly OpenMeasured[]> {
  // Also warms up.
  const closed = await bench.rate.perSecond()
  const given = bench.options.openLoop
  const rates = given.length > 0 ? given : SHARES.map((share) => Math.max(1, Math.round(share * closed)))
  const measured: OpenMeasured[] = []
  for (const perSecond of rates) measured.push(await measureOpenLoopAt(bench, perSecond, `${perSecond} a second`))
  return measured
}

/** `name`: the column of the report. */
export async function measureOpenLoopAt(
  { options, cluster, load }: LedgerBench,
  perSecond: number,
  name: string,
): Promise<OpenMeasured> {
  const { seconds } = options
  say(`open loop, ${name}: signing ${perSecond * seconds} submissions beforehand ...`)
  await load.prepare('random', perSecond * seconds)
  say(`open loop, ${name}: measuring for ${seconds} s ...`)
  const databaseUrl = cluster.databaseUrl()
  const since = await lastCommit(databaseUrl)
  const stopMeter = startMeter(cluster, load.pid)
  const startedMs = performance.now()
  const running = load.run({
    loop: openLoopAt(perSecond),
    seconds,
    followed: FOLLOWED,
  })
  const watching = delay(seconds * 1000).then(async () => ({
    endMs: performance.now(),
    atEnd: await statusesSince(databaseUrl, since),
  }))
  const [run, { endMs, atEnd }] = await Promise.all([running, watching])
  const drained = await untilApplied(databaseUrl, since)
  const drainedMs = Math.max(0, performance.now() - endMs)
  const spent = stopMeter()
  sayOddities(name, { ...run, ranDry: false })
  if (drained.accepted < run.accepted) {
    throw new Error(`${run.accepted} submissions were acknowledged, but the ledger counts ${drained.accepted}`)
  }
  const windowMs = endMs - startedMs
  return {
    name,
    offeredPerSecond: perSecond,
    run,
    atEnd,
    acceptedPerSecond: (atEnd.accepted * 1000) / windowMs,
    appliedPerSecond: (atEnd.completed * 1000) / windowMs,
    unanswered: Math.max(0, perSecond * seconds - run.answeredInTime),
    drainedMs,
    drained,
    batchSize: await batchSizeSince(databaseUrl, since),
    ...costOf(spent, drained.completed),
  }
}

/** Throws when something is still pending after `DRAIN_LIMIT_MS`. */
async function untilApplied(databaseUrl: string, since: string): Promise<Statuses> {
  const untilMs = performance.now() + DRAIN_LIMIT_MS
  for (;;) {
    const statuses = await statusesSince(databaseUrl, since)
    if (statuses.pending === 0) return statuses
    if (performance.now() > untilMs) {
      throw new Error(`after ${DRAIN_LIMIT_MS} ms ${statuses.pending} submissions are still pending`)
    }
    await delay(DRAIN_POLL_MS)
  }
}
