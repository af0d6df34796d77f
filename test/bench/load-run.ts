/** A closed loop: each connection sends its next request when the reply to the last one is in. */
import type { RunResult } from './load-messages.ts'
import { RawConnection } from './raw-connection.ts'
import { latencyOf } from './statistics.ts'

export interface Load {
  readonly host: string
  readonly port: number
  readonly connections: number
  readonly seconds: number
  /** Taken from the front: what is left when the time is over stays. */
  readonly stock: { readonly requests: readonly Uint8Array[]; next: number }
  /** Every other status is counted, and no reason to stop. */
  readonly expectedStatus: number
  /** How to ask for a submission that was accepted; undefined where there is nothing to follow. */
  readonly follow: ((acceptedBody: string) => string) | undefined
}

/** Of so many submissions at most one is followed until it is final: following costs what is measured a request. */
const FOLLOW_EVERY = 50
const FINAL = /"status":"(?:completed|failed)"/
const MAX_SURPRISES = 5
const SILENCE_LIMIT_MS = 30_000

/** Rejects when a connection breaks or nothing comes for `SILENCE_LIMIT_MS`. */
export async function runLoad(load: Load): Promise<RunResult> {
  const connections = await Promise.all(
    Array.from({ length: load.connections }, () => RawConnection.open(load.host, load.port)),
  )
  const followers = load.follow === undefined ? [] : [await RawConnection.open(load.host, load.port)]
  try {
    return await new LoadRun(load, connections, followers[0]).result()
  } finally {
    for (const connection of [...connections, ...followers]) connection.close()
  }
}

class LoadRun {
  private readonly load: Load
  private readonly connections: readonly RawConnection[]
  private readonly follower: RawConnection | undefined
  private readonly durationsMs: Float64Array
  private answered = 0
  private readonly finalMs: number[] = []
  private following = false
  private readonly statuses: Record<string, number> = {}
  private readonly surprises: string[] = []
  private startedMs = 0
  private untilMs = 0
  private busy = 0
  private ended: () => void = () => undefined
  private failed: (cause: Error) => void = () => undefined
  private lastAnswered = -1

  constructor(load: Load, connections: readonly RawConnection[], follower: RawConnection | undefined) {
    this.load = load
    this.connections = connections
    this.follower = follower
    this.durationsMs = new Float64Array(load.stock.requests.length - load.stock.next)
  }

  async result(): Promise<RunResult> {
    const watch = setInterval(() => this.watchSilence(), SILENCE_LIMIT_MS / 2)
    let durationMs: number
    try {
      await new Promise<void>((resolve, reject) => {
        this.ended = resolve
        this.failed = reject
        this.startedMs = performance.now()
        this.untilMs = this.startedMs + this.load.seconds * 1000
        for (const connection of this.connections) this.next(connection)
      })
      durationMs = performance.now() - this.startedMs
    } finally {
      clearInterval(watch)
    }
    const { stock } = this.load
    return {
      durationMs,
      statuses: this.statuses,
      surprises: this.surprises,
      latency: latencyOf(this.durationsMs.subarray(0, this.answered)),
      toFinal: latencyOf(Float64Array.from(this.finalMs)),
      ranDry: stock.next >= stock.requests.length,
    }
  }

  private next(connection: RawConnection): void {
    const { stock } = this.load
    const sentMs = performance.now()
    const request = sentMs < this.untilMs ? stock.requests[stock.next] : undefined
    if (request === undefined) {
      if (this.busy === 0 && !this.following) this.ended()
      return
    }
    stock.next += 1
    this.busy += 1
    connection.send(
      request,
      (status, body) => {
        this.busy -= 1
        this.take(status, body, sentMs)
        this.next(connection)
      },
      (cause) => this.failed(cause),
    )
  }

  private take(status: number, body: () => string, sentMs: number): void {
    const { expectedStatus, follow } = this.load
    this.statuses[status] = (this.statuses[status] ?? 0) + 1
    if (status !== expectedStatus) {
      if (this.surprises.length < MAX_SURPRISES) this.surprises.push(`${status} ${body()}`)
      return
    }
    this.durationsMs[this.answered] = performance.now() - sentMs
    this.answered += 1
    if (follow === undefined || this.following || this.answered % FOLLOW_EVERY !== 0) return
    this.following = true
    this.followOn(follow(body()), sentMs)
  }

  /** Asks until the submission is final. */
  private followOn(request: string, sentMs: number): void {
    this.follower?.send(
      request,
      (_status, body) => {
        if (!FINAL.test(body())) {
          this.followOn(request, sentMs)
          return
        }
        this.finalMs.push(performance.now() - sentMs)
        this.following = false
        if (this.busy === 0) this.ended()
      },
      (cause) => this.failed(cause),
    )
  }

  private watchSilence(): void {
    const total = Object.values(this.statuses).reduce((sum, count) => sum + count, 0)
    if (total === this.lastAnswered) this.failed(new Error(`no reply came for ${SILENCE_LIMIT_MS / 2} ms`))
    this.lastAnswered = total
  }
}
