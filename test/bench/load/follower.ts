/**
 * Follows a random sample of the accepted submissions until each is final, on connections of its own. The sample is
 * drawn before the outcomes are known and no member is dropped, so that slow ones are not missing.
 */
import type { FollowPlan } from './load-messages.ts'
import { RawConnection } from './raw-connection.ts'
import { type Latency, latencyOf } from '../report/statistics.ts'

export interface FollowTarget {
  readonly host: string
  readonly port: number
  /** The request that reads a submission, given the body of its acceptance. */
  readonly requestOf: (acceptedBody: string) => string
}

/** Concurrent polls; the others wait for a connection. Below the number of requests that an edge queues. */
const MAX_CONNECTIONS = 200
const FINAL_LIMIT_MS = 60_000
const FINAL = /"status":"(?:completed|failed)"/

interface Followed {
  readonly request: string
  readonly sinceMs: number
}

export class Follower {
  private readonly plan: FollowPlan
  private readonly target: FollowTarget
  private readonly onFailed: (cause: Error) => void
  private readonly idle: RawConnection[] = []
  private readonly queue: Followed[] = []
  private readonly finalMs: number[] = []
  private connections: RawConnection[] = []
  private opened = 0
  private unfinished = 0
  private finished: (() => void) | undefined

  constructor(plan: FollowPlan, target: FollowTarget, onFailed: (cause: Error) => void) {
    this.plan = plan
    this.target = target
    this.onFailed = onFailed
  }

  /** A submission was accepted. `sinceMs`: the start of its time. */
  consider(acceptedBody: () => string, sinceMs: number): void {
    if (Math.random() >= this.plan.share) return
    this.unfinished += 1
    const request = this.target.requestOf(acceptedBody())
    this.queue.push({ request, sinceMs })
    this.goOn()
  }

  /** Ends the sample: resolves once all followed submissions are final. */
  async end(): Promise<Latency> {
    await new Promise<void>((resolve) => {
      this.finished = resolve
      if (this.unfinished === 0) resolve()
    })
    return latencyOf(Float64Array.from(this.finalMs))
  }

  close(): void {
    for (const connection of this.connections) connection.close()
    this.connections = []
  }

  private goOn(): void {
    if (this.queue.length === 0) return
    let connection = this.idle.pop()
    while (connection?.isOpen() === false) {
      this.opened -= 1
      connection = this.idle.pop()
    }
    if (connection === undefined) {
      this.openOne()
      return
    }
    const followed = this.queue.shift()
    if (followed !== undefined) this.look(followed, connection)
  }

  private openOne(): void {
    if (this.opened === MAX_CONNECTIONS) return
    this.opened += 1
    const { host, port } = this.target
    RawConnection.open(host, port).then((connection) => {
      this.connections.push(connection)
      this.idle.push(connection)
      this.goOn()
    }, this.onFailed)
  }

  private look(followed: Followed, connection: RawConnection): void {
    connection.send(
      followed.request,
      (_status, body) => {
        const elapsedMs = performance.now() - followed.sinceMs
        if (FINAL.test(body())) {
          this.finalMs.push(elapsedMs)
          this.unfinished -= 1
          this.idle.push(connection)
          this.goOn()
          if (this.unfinished === 0) this.finished?.()
        } else if (elapsedMs > FINAL_LIMIT_MS) {
          this.onFailed(new Error(`after ${FINAL_LIMIT_MS} ms not final: ${body()}`))
        } else {
          setTimeout(() => this.look(followed, connection), this.plan.pauseMs)
        }
      },
      this.onFailed,
    )
  }
}
