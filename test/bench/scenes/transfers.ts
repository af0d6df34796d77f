/**
 * Transfers between accounts of different shards: first the maximal rate of 128 clients, then half of that at a
 * constant rate. A transfer counts when both sides are completed according to PostgreSQL, not according to replies.
 */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { lastCommit } from '../load/committed.ts'
import { type Bench, demandAll, HEADROOM, openLoopAt, say, sayOddities, WARM_UP_RATE, WARM_UP_S } from '../context.ts'
import { type Cost, costOf, startMeter } from '../report/cost.ts'
import type { FollowPlan, RunPlan, RunResult } from '../load/load-messages.ts'
import { openTransferLedger, type TransferCounts, type TransferLedger } from './transfer-counts.ts'

/** The cost is of each settled transfer, until all were settled; the floor one verification and two receipts. */
export interface TransfersMeasured extends Cost {
  readonly name: string
  /** Arrivals; null in a closed loop. */
  readonly offeredPerSecond: number | null
  readonly run: RunResult
  /** At the end of the sending time. Transfers pending then are the backlog. */
  readonly atEnd: TransferCounts
  readonly acceptedPerSecond: number
  readonly settledPerSecond: number
  /** From then until no transfer was pending, milliseconds; polled every few milliseconds. */
  readonly drainedMs: number
  /** When no transfer was pending any more. */
  readonly drained: TransferCounts
  /** From the first request until then. */
  readonly settledPerSecondToLast: number
  /** A transfer is three transactions: the order, the credit, and the completion. */
  readonly stepsPerCommit: number
}

const FUNDING_LIMIT_S = 120
const DRAIN_LIMIT_MS = 60_000
/** A poll costs PostgreSQL some milliseconds. */
const DRAIN_POLL_MS = 100
const STEPS = 3
const RECEIPTS = 2
/** Share of the preparation for warming up on credits and debits. */
const WARM_UP_SHARE = 0.5
/** Few, so that following costs hardly anything. */
const FOLLOWED: FollowPlan = { share: 0.02, pauseMs: 20 }

export async function measureTransfers(bench: Bench): Promise<readonly TransfersMeasured[]> {
  const { options, cluster, load } = bench
  const { connections, seconds } = options
  const ledger = openTransferLedger(cluster.databaseUrl(), join(cluster.dataDir, 'master.key'))
  try {
    const warmRate = await warmUp(bench, ledger)
    await load.prepare('transfer', Math.ceil(warmRate * HEADROOM * seconds) + connections)
    const closed = await measure(bench, ledger, 'transfers', {
      loop: { kind: 'closed', connections },
      seconds,
      followed: FOLLOWED,
    })
    const perSecond = Math.max(1, Math.round(closed.settledPerSecond / 2))
    await load.prepare('transfer', perSecond * seconds)
    const open = await measure(bench, ledger, 'transfers, half of that', {
      loop: openLoopAt(perSecond),
      seconds,
      followed: FOLLOWED,
    })
    return [closed, open]
  } finally {
    await ledger.end()
  }
}

/** Credits every account and sends some transfers. Returns the number accepted a second. */
async function warmUp({ options, cluster, load }: Bench, ledger: TransferLedger): Promise<number> {
  const { accounts, connections } = options
  say('transfers: funding the accounts ...')
  await load.locate(await ledger.shards())
  await load.prepare('fund', accounts)
  demandAll(await load.run({ loop: { kind: 'closed', connections }, seconds: FUNDING_LIMIT_S }), 202)
  say('transfers: warming up ...')
  const since = await lastCommit(cluster.databaseUrl())
  await load.prepare('transfer', WARM_UP_S * WARM_UP_RATE * WARM_UP_SHARE)
  const running = load.run({ loop: { kind: 'closed', connections }, seconds: WARM_UP_S })
  await drain(ledger, since, running)
  const run = await running
  return (run.latency.count * 1000) / run.durationMs
}

async function measure(
  { cluster, load }: Bench,
  ledger: TransferLedger,
  name: string,
  plan: RunPlan,
): Promise<TransfersMeasured> {
  say(`${name}: measuring for ${plan.seconds} s ...`)
  const since = await lastCommit(cluster.databaseUrl())
  const stopMeter = await startMeter(cluster, load.pid)
  const startedMs = performance.now()
  const running = load.run(plan)
  const watching = windowEnd(ledger, since, plan.seconds).then(async (window) => ({
    window,
    drained: await drain(ledger, since, running),
  }))
  const [run, { window, drained }] = await Promise.all([running, watching])
  const spent = await stopMeter()
  sayOddities(name, run)
  const totalMs = drained.atMs - startedMs
  const { counts } = drained
  demandSettled(run, counts)
  const windowMs = window.atMs - startedMs
  return {
    name,
    offeredPerSecond: plan.loop.kind === 'open' ? plan.loop.perSecond : null,
    run,
    atEnd: window.counts,
    acceptedPerSecond: (window.counts.accepted * 1000) / windowMs,
    settledPerSecond: (window.counts.settled * 1000) / windowMs,
    drainedMs: drained.atMs - window.atMs,
    drained: counts,
    settledPerSecondToLast: (counts.settled * 1000) / totalMs,
    stepsPerCommit: (STEPS * counts.settled) / Math.max(1, await ledger.commits(since)),
    ...costOf(spent, counts.settled, RECEIPTS),
  }
}

interface Seen {
  readonly atMs: number
  readonly counts: TransferCounts
}

/** Counts at the end of the time, whatever is still pending. */
async function windowEnd(ledger: TransferLedger, since: string, seconds: number): Promise<Seen> {
  await delay(seconds * 1000)
  return look(ledger, since)
}

/** Polls until all of `sent` are settled and none is pending. Resolves to the first such counts. */
async function drain(ledger: TransferLedger, since: string, sent: Promise<unknown>): Promise<Seen> {
  const untilMs = performance.now() + DRAIN_LIMIT_MS
  let allSent = false
  const mark = (): void => {
    allSent = true
  }
  sent.then(mark, mark)
  let first: Seen | undefined
  for (;;) {
    const noneToCome = allSent
    const seen = await look(ledger, since)
    if (seen.counts.pending > 0) first = undefined
    else if (first?.counts.accepted !== seen.counts.accepted) first = seen
    if (noneToCome && first !== undefined) return first
    if (seen.atMs > untilMs) {
      throw new Error(`after ${DRAIN_LIMIT_MS} ms ${seen.counts.pending} transfers are still pending`)
    }
    await delay(DRAIN_POLL_MS)
  }
}

async function look(ledger: TransferLedger, since: string): Promise<Seen> {
  const atMs = performance.now()
  return { atMs, counts: await ledger.counts(since) }
}

/** Every accepted transfer is complete on both sides, and none failed. */
function demandSettled(run: RunResult, counts: TransferCounts): void {
  const { accepted, settled, failed, credits } = counts
  if (failed > 0 || settled !== accepted || credits !== accepted || accepted < run.latency.count) {
    throw new Error(
      `${run.latency.count} transfers were answered with 202; the ledger has ${accepted}, ` +
        `${settled} of them completed with ${credits} credits, and ${failed} failures`,
    )
  }
}
