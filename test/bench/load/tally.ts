/** The replies of a run. */
import type { Follower } from './follower.ts'
import { Gaps } from '../report/gaps.ts'
import { type Latency, latencyOf } from '../report/statistics.ts'

const MAX_SURPRISES = 5
const ACCOUNT = /"account_id":"([^"]*)"/
const ACCEPTED_OF_BATCH = '"status":202'

export interface TallyOptions {
  /** Every other status is counted, and does not stop the run. */
  readonly expectedStatus: number
  /** Whether a reply is for many submissions, each with a status of its own. */
  readonly batches: boolean
  /** The number of expected replies. */
  readonly most: number
  readonly follower: Follower | undefined
  readonly gapsByAccount: boolean
  /** Later replies do not count as in time. */
  readonly seconds: number
}

export class Tally {
  readonly statuses: Record<string, number> = {}
  readonly surprises: string[] = []
  replies = 0
  accepted = 0
  answeredInTime = 0
  private readonly options: TallyOptions
  private readonly durationsMs: Float64Array
  private readonly untilMs: number
  private readonly gaps: Gaps
  private readonly accountGaps: Gaps
  private answered = 0

  constructor(options: TallyOptions) {
    const startMs = performance.now()
    this.options = options
    this.durationsMs = new Float64Array(options.most)
    this.untilMs = startMs + options.seconds * 1000
    this.gaps = new Gaps(startMs)
    this.accountGaps = new Gaps(startMs)
  }

  /** `body` must be read during the call. */
  take(status: number, body: () => string, sinceMs: number): void {
    const { expectedStatus, batches, follower, gapsByAccount } = this.options
    this.replies += 1
    this.statuses[status] = (this.statuses[status] ?? 0) + 1
    if (status !== expectedStatus) {
      if (this.surprises.length < MAX_SURPRISES) this.surprises.push(`${status} ${body()}`)
      return
    }
    const nowMs = performance.now()
    this.durationsMs[this.answered] = nowMs - sinceMs
    this.answered += 1
    this.accepted += batches ? this.acceptedOf(body()) : 1
    if (nowMs <= this.untilMs) this.answeredInTime += 1
    this.gaps.note('', nowMs)
    if (gapsByAccount) this.accountGaps.note(ACCOUNT.exec(body())?.[1] ?? '', nowMs)
    follower?.consider(body, sinceMs)
  }

  latency(): Latency {
    return latencyOf(this.durationsMs.subarray(0, this.answered))
  }

  /** Milliseconds. */
  longestGap(): number {
    return latencyOf(this.gaps.longest()).maxMs
  }

  gapsByAccount(): Latency | null {
    return this.options.gapsByAccount ? latencyOf(this.accountGaps.longest()) : null
  }

  private acceptedOf(body: string): number {
    let accepted = 0
    for (let at = body.indexOf(ACCEPTED_OF_BATCH); at >= 0; at = body.indexOf(ACCEPTED_OF_BATCH, at + 1)) accepted += 1
    return accepted
  }
}
