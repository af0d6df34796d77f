/** Messages between the bench and its load generator. */
import type { Latency } from '../report/statistics.ts'

/**
 * The receivers of submissions. `random`: any account. `ten`: any of ten. `pair`: two by turns. `hot`: one. `spread`:
 * some tens by turns. `each`: all by turns. `batch`: any, a hundred in a request. `fund`: all by turns, one large
 * credit each. `transfer`: from any to any on another shard. `plain-order`, `plain-transfer`: unsigned, for the plain
 * ledger.
 */
export type Scenario =
  | 'random'
  | 'ten'
  | 'pair'
  | 'hot'
  | 'spread'
  | 'each'
  | 'batch'
  | 'fund'
  | 'transfer'
  | PlainScenario
export type PlainScenario = 'plain-order' | 'plain-transfer'

/** Accounts that exist already, as `npm run load` creates them: their keys are derived from these. */
export interface LoadedAccounts {
  readonly seed: number
  readonly keys: number
}

/** Submissions in one request of the scenario `batch`. */
export const BATCH_SIZE = 100

/** Accounts of the scenario `spread`: few enough that each is used often, enough to lie on many shards. */
export const SPREAD_ACCOUNTS = 64

/** The shard of each account that can take part in transfers. */
export type ShardByAccount = Readonly<Record<string, number>>

/**
 * Closed: each connection sends its next request after the reply to the previous one. Open: requests arrive at random
 * at a constant mean rate, independent of earlier ones, and are measured from their due time.
 */
export type Loop =
  | { readonly kind: 'closed'; readonly connections: number }
  | { readonly kind: 'open'; readonly connections: number; readonly perSecond: number }

/**
 * The share of the accepted submissions that is polled until each is final. `Prefer: wait` would be late by up to a
 * third: the edge then polls at growing intervals.
 */
export interface FollowPlan {
  readonly share: number
  /** Between two polls of a submission: the measured time is too long by at most this. */
  readonly pauseMs: number
}

export interface RunPlan {
  readonly loop: Loop
  /** Upper bound: `finish` ends it earlier. */
  readonly seconds: number
  /** Default: none is followed. */
  readonly followed?: FollowPlan
  /** Whether to measure how long each account went without an acceptance. */
  readonly gapsByAccount?: boolean
}

export type LoadOrder =
  | {
      readonly kind: 'setup'
      readonly origin: string
      readonly token: string
      readonly accounts: number
      /** null: they must be registered first. */
      readonly loaded: LoadedAccounts | null
    }
  | { readonly kind: 'register'; readonly connections: number }
  /** Before transfers are prepared. */
  | { readonly kind: 'locate'; readonly shards: ShardByAccount }
  /** Signs requests until this number is ready for the following runs. */
  | { readonly kind: 'prepare'; readonly scenario: Scenario; readonly count: number }
  /** Sends prepared requests for at most this time. */
  | { readonly kind: 'run'; readonly plan: RunPlan }

/** Stops the current run: no more requests are sent. Has no reply of its own. */
export interface LoadSignal {
  readonly kind: 'finish'
}

export interface RunResult {
  /** From the first request to the last reply; followed submissions may become final later. */
  readonly durationMs: number
  /** The number of replies by status. */
  readonly statuses: Readonly<Record<string, number>>
  /** Bodies of some replies with an unexpected status. */
  readonly surprises: readonly string[]
  /** Acknowledged submissions, each one of a batch counted. */
  readonly accepted: number
  /** Requests with an expected reply within the sending time. */
  readonly answeredInTime: number
  /** Of the replies with the expected status. */
  readonly latency: Latency
  /** Longest time without a reply of the expected status, milliseconds. */
  readonly longestGapMs: number
  /** The longest gap of each account; null if not measured. */
  readonly gapsByAccount: Latency | null
  /** From the request of a submission to the reply that showed it final, of a sample. */
  readonly toFinal: Latency
  /** How late requests with a due time were sent; null in a closed loop. */
  readonly lateness: Latency | null
  /** Whether the prepared requests ran out before the end. */
  readonly ranDry: boolean
}

export type LoadReply =
  | { readonly kind: 'done' }
  | { readonly kind: 'ran'; readonly result: RunResult }
  | { readonly kind: 'failed'; readonly message: string }
