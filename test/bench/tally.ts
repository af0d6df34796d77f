/** What came back in a run. */
import type { Follower } from './follower.ts'
import { type Latency, latencyOf } from './statistics.ts'

const MAX_SURPRISES = 5

export class Tally {
  readonly statuses: Record<string, number> = {}
  readonly surprises: string[] = []
  replies = 0
  private readonly expectedStatus: number
  private readonly followers: readonly Follower[]
  private readonly durationsMs: Float64Array
  private answered = 0

  /** `most`: replies that can come. Every status but the expected one is counted, and no reason to stop. */
  constructor(expectedStatus: number, most: number, followers: readonly Follower[]) {
    this.expectedStatus = expectedStatus
    this.durationsMs = new Float64Array(most)
    this.followers = followers
  }

  /** `body` can be read now, and not later. */
  take(status: number, body: () => string, sinceMs: number): void {
    this.replies += 1
    this.statuses[status] = (this.statuses[status] ?? 0) + 1
    if (status !== this.expectedStatus) {
      if (this.surprises.length < MAX_SURPRISES) this.surprises.push(`${status} ${body()}`)
      return
    }
    this.durationsMs[this.answered] = performance.now() - sinceMs
    this.answered += 1
    for (const follower of this.followers) follower.consider(body, sinceMs)
  }

  latency(): Latency {
    return latencyOf(this.durationsMs.subarray(0, this.answered))
  }
}
