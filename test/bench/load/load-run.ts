/** One run of the load generator: its connections, its loop, and its sample. */
import { closedLoop } from './closed-loop.ts'
import { Follower, type FollowTarget } from './follower.ts'
import type { RunPlan, RunResult } from './load-messages.ts'
import { openLoop, randomArrivals } from './open-loop.ts'
import { RawConnection } from './raw-connection.ts'
import { type Latency, latencyOf } from '../report/statistics.ts'
import type { Stock } from './stock.ts'
import { Tally } from './tally.ts'

/** Set during the run: sent requests are still answered, and no more are sent. */
export interface Ending {
  asked: boolean
}

export interface Load extends RunPlan {
  readonly target: FollowTarget
  readonly stock: Stock
  readonly ending: Ending
  readonly expects: keyof typeof EXPECTED_STATUS
}

const EXPECTED_STATUS = { created: 201, accepted: 202, batches: 200 } as const

const SILENCE_LIMIT_MS = 30_000
const NOTHING: Latency = latencyOf(new Float64Array(0))

/** Rejects when a connection breaks or no reply arrives for `SILENCE_LIMIT_MS`. */
export async function runLoad(load: Load): Promise<RunResult> {
  const { target, loop, followed } = load
  const connections = await Promise.all(
    Array.from({ length: loop.connections }, () => RawConnection.open(target.host, target.port)),
  )
  let fail: (cause: Error) => void = () => undefined
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject
  })
  const follower = followed === undefined ? undefined : new Follower(followed, target, (cause) => fail(cause))
  try {
    return await Promise.race([failed, measured(load, connections, follower, fail)])
  } finally {
    for (const open of connections) open.close()
    follower?.close()
  }
}

async function measured(
  { loop, seconds, stock, ending, expects, gapsByAccount = false }: Load,
  connections: readonly RawConnection[],
  follower: Follower | undefined,
  fail: (cause: Error) => void,
): Promise<RunResult> {
  const tally = new Tally({
    expectedStatus: EXPECTED_STATUS[expects],
    batches: expects === 'batches',
    most: stock.requests.length - stock.next,
    follower,
    gapsByAccount,
    seconds,
  })
  const watch = watchSilence(tally, fail)
  const startedMs = performance.now()
  let lateness: Latency | null = null
  try {
    if (loop.kind === 'closed') await closedLoop(connections, stock, { seconds, ending }, tally)
    else {
      const atMs = randomArrivals(seconds, loop.perSecond)
      lateness = await openLoop(connections, stock, { atMs, ending }, tally)
    }
  } finally {
    clearInterval(watch)
  }
  const durationMs = performance.now() - startedMs
  const { statuses, surprises, accepted, answeredInTime } = tally
  return {
    durationMs,
    statuses,
    surprises,
    accepted,
    answeredInTime,
    latency: tally.latency(),
    longestGapMs: tally.longestGap(),
    gapsByAccount: tally.gapsByAccount(),
    toFinal: (await follower?.end()) ?? NOTHING,
    lateness,
    ranDry: stock.next >= stock.requests.length,
  }
}

function watchSilence(tally: Tally, fail: (cause: Error) => void): NodeJS.Timeout {
  let before = -1
  return setInterval(() => {
    if (tally.replies === before) fail(new Error(`no reply came for ${SILENCE_LIMIT_MS / 2} ms`))
    before = tally.replies
  }, SILENCE_LIMIT_MS / 2)
}
