/**
 * Low load: a client alone, then submissions at constant rates, independent of earlier ones. A stall delays all
 * arrivals in it, and an overload shows as a backlog.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { batchSizeSince, lastCommit, type Statuses, statusesSince } from '../load/committed.ts'
import { openLoopAt, say, sayOddities } from '../context.ts'
import { type Cost, costOf, startMeter } from '../report/cost.ts'
import type { LedgerBench } from '../ledger-bench.ts'
import type { RunResult } from '../load/load-messages.ts'
import { measure, type Measured } from './measure.ts'

/** The cost of each applied submission, until all were applied. */
export interface OpenMeasured extends Cost {
  readonly name: string
  readonly offeredPerSecond: number
  /** Latencies begin when a submission was due. */
  readonly run: RunResult
  /** A second run at the same rate, in which some are followed; null if there was none. */
  readonly followed: RunResult | null
  /** At the due time of the last one: counted in the ledger. */
  readonly atEnd: Statuses
  readonly acceptedPerSecond: number
  readonly appliedPerSecond: number
  /** Due by then, and not yet answered. */
  readonly unanswered: number
  /** From then until all were answered and none was pending, milliseconds. */
  readonly drainedMs: number
  readonly drained: Statuses
  /** Transactions per commit. */
  readonly batchSize: number
}

export interface LowLoadMeasured {
  /** Closed loop on one connection; none is followed. */
  readonly lone: Measured
  readonly open: readonly OpenMeasured[]
}

/** Followed submissions a second: polling costs as much as some of the orders. */
const FOLLOWED_RATE = 50
const FOLLOW_PAUSE_MS = 2
const DRAIN_LIMIT_MS = 60_000
const DRAIN_POLL_MS = 50

export async function measureLowLoad(bench: LedgerBench): Promise<LowLoadMeasured> {
  // Warms up.
  await bench.rate.perSecond()
  const lone = await measure(bench, 'random', 'lone client', { connections: 1, follows: false })
  const open: OpenMeasured[] = []
  for (const perSecond of bench.options.rates) {
    const one = await measureOpenLoopAt(bench, perSecond, `${perSecond} a second`)
    open.push({ ...one, followed: await runFollowed(bench, perSecond) })
  }
  return { lone, open }
}

/** In a run of its own: its polling affects no other figure. */
async function runFollowed({ options, load }: LedgerBench, perSecond: number): Promise<RunResult> {
  const { seconds } = options
  await load.prepare('random', perSecond * seconds)
  say(`open loop, ${perSecond} a second: following some until they are final for ${seconds} s ...`)
  const followed = { share: Math.min(1, FOLLOWED_RATE / perSecond), pauseMs: FOLLOW_PAUSE_MS }
  return load.run({ loop: openLoopAt(perSecond), seconds, followed })
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
  const stopMeter = await startMeter(cluster, load.pid)
  const startedMs = performance.now()
  const running = load.run({
    loop: openLoopAt(perSecond),
    seconds,
  })
  const watching = delay(seconds * 1000).then(async () => ({
    endMs: performance.now(),
    atEnd: await statusesSince(databaseUrl, since),
  }))
  const [run, { endMs, atEnd }] = await Promise.all([running, watching])
  const drained = await untilApplied(databaseUrl, since)
  const drainedMs = Math.max(0, performance.now() - endMs)
  const spent = await stopMeter()
  sayOddities(name, { ...run, ranDry: false })
  if (drained.accepted < run.accepted) {
    throw new Error(`${run.accepted} submissions were acknowledged, but the ledger counts ${drained.accepted}`)
  }
  const windowMs = endMs - startedMs
  return {
    name,
    offeredPerSecond: perSecond,
    run,
    followed: null,
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

/** Throws if submissions are still pending after `DRAIN_LIMIT_MS`. */
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
