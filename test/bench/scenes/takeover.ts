/**
 * Clients' view when all nodes die at once. Submissions arrive at a constant rate, to accounts on many shards, while
 * the nodes are killed and restarted by their supervisor. The load generator does not retry.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type postgres from 'postgres'
import { onDatabase } from '../load/committed.ts'
import { openLoopAt, say, sayOddities } from '../context.ts'
import type { LedgerBench } from '../ledger-bench.ts'
import type { RunResult } from '../load/load-messages.ts'

export interface TakeoverMeasured {
  readonly offeredPerSecond: number
  /** From the signal until every shard had a new owner, milliseconds. */
  readonly ownedMs: number
  /** Latencies begin when a submission was due; the longest gap of any account shows when it was served again. */
  readonly run: RunResult
  /** Replies with status 503. */
  readonly unavailable: number
}

/** Share of a closed loop's rate: waiting requests must be caught up with. */
const RATE_SHARE = 0.3
const LIMIT_S = 60
/** So that each account has been served before the event, and is served again after it. */
const AROUND_MS = 1_000
const LOOK_EVERY_MS = 20

export async function measureTakeover(bench: LedgerBench): Promise<TakeoverMeasured> {
  const { cluster, load } = bench
  const offeredPerSecond = Math.max(1, Math.round(RATE_SHARE * (await bench.rate.perSecond())))
  await load.prepare('spread', offeredPerSecond * LIMIT_S)
  say(`takeover: ${offeredPerSecond} submissions a second, and every node is killed ...`)
  const running = load.run({
    loop: openLoopAt(offeredPerSecond),
    seconds: LIMIT_S,
    gapsByAccount: true,
  })
  const killing = onDatabase(cluster.databaseUrl(), async (sql) => {
    await delay(AROUND_MS)
    const before = await sql<{ session: string }[]>`SELECT DISTINCT session FROM shards WHERE session IS NOT NULL`
    const sessions = before.map(({ session }) => session)
    const beganMs = performance.now()
    for (const { pid } of cluster.heads('node')) process.kill(pid, 'SIGKILL')
    await untilOwned(sql, sessions)
    const ownedMs = performance.now() - beganMs
    await delay(AROUND_MS)
    return ownedMs
  }).finally(load.finish)
  const [run, ownedMs] = await Promise.all([running, killing])
  // A 503 is expected here and counted.
  const surprises = run.surprises.filter((surprise) => !surprise.startsWith('503'))
  sayOddities('takeover', { ...run, surprises, ranDry: false })
  return { offeredPerSecond, ownedMs, run, unavailable: run.statuses['503'] ?? 0 }
}

/** Waits for new owners. Throws after `LIMIT_S`. */
async function untilOwned(sql: postgres.Sql, dead: readonly string[]): Promise<void> {
  const deadlineMs = performance.now() + LIMIT_S * 1000
  for (;;) {
    const [row] = await sql<[{ orphans: number }]>`
      SELECT count(*)::integer AS orphans FROM shards WHERE session IS NULL OR session = ANY(${[...dead]}::text[])`
    if (row.orphans === 0) return
    if (performance.now() > deadlineMs) throw new Error(`after ${LIMIT_S} s ${row.orphans} shards have no owner yet`)
    await delay(LOOK_EVERY_MS)
  }
}
