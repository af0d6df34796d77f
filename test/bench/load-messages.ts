/** What the bench and its load generator say to each other. */
import type { Latency } from './statistics.ts'

/**
 * Whom submissions go to. `random`: any account. `ten`: any of ten. `pair`: two by turns. `hot`: one. `spread`: some tens
 * by turns. `each`: all by turns. `batch`: any, a hundred in a request. `fund`: all by turns, one large credit each.
 * `transfer`: from any to any on another shard. `plain-order`, `plain-transfer`: unsigned, of the plain ledger.
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

/** Accounts that are in the ledger already, as `npm run load` makes them: their keys follow from these. */
export interface LoadedAccounts {
  readonly seed: number
  readonly keys: number
}

/** Submissions in one request of the scenario `batch`. */
export const BATCH_SIZE = 100

/** Accounts of the scenario `spread`: few enough to see each often, enough to lie on many shards. */
export const SPREAD_ACCOUNTS = 64

/** The shard of each account that can take part in transfers. */
export type ShardByAccount = Readonly<Record<string, number>>

/**
 * Closed: each connection sends its next request when the reply to the last one is in. Open: requests arrive at random at a
 * constant mean rate whatever becomes of those before them, and are measured from when they were to be sent.
 */
export type Loop =
  | { readonly kind: 'closed'; readonly connections: number }
  | { readonly kind: 'open'; readonly connections: number; readonly perSecond: number }

/**
 * The share of the accepted submissions that is polled until each is final. `Prefer: wait` would be late by up to a third:
 * the edge itself polls then, at growing intervals.
 */
export interface FollowPlan {
  readonly share: number
  /** Between a reply that showed one pending and the next look: what is measured is at most so much too long. */
  readonly pauseMs: number
}

export interface RunPlan {
  readonly loop: Loop
  /** At most: `finish` ends it earlier. */
  readonly seconds: number
  /** Left out: none is followed. */
  readonly followed?: FollowPlan
  /** Whether to note how long each account went without an acceptance. */
  readonly gapsByAccount?: boolean
}

export type LoadOrder =
  | {
      readonly kind: 'setup'
      readonly origin: string
      readonly token: string
      readonly accounts: number
      /** null: they are still to be registered. */
      readonly loaded: LoadedAccounts | null
    }
  | { readonly kind: 'register'; readonly connections: number }
  /** Before transfers are prepared. */
  | { readonly kind: 'locate'; readonly shards: ShardByAccount }
  /** Signs requests until so many are ready, to be sent by the runs that follow. */
  | { readonly kind: 'prepare'; readonly scenario: Scenario; readonly count: number }
  /** Sends what was prepared, for at most so long. */
  | { readonly kind: 'run'; readonly plan: RunPlan }

/** Sent while a run is under way: nothing more is to be sent. Has no reply of its own. */
export interface LoadSignal {
  readonly kind: 'finish'
}

export interface RunResult {
  /** From the first request to the last reply; what is followed may be final later. */
  readonly durationMs: number
  /** How many replies had which status. */
  readonly statuses: Readonly<Record<string, number>>
  /** Bodies of some replies with a status that was not expected. */
  readonly surprises: readonly string[]
  /** Submissions that were acknowledged: of a batch each that was. */
  readonly accepted: number
  /** Requests that were answered as expected before the time was over in which they were sent. */
  readonly answeredInTime: number
  /** Of the replies with the expected status. */
  readonly latency: Latency
  /** Longest time without a reply of the expected status, milliseconds. */
  readonly longestGapMs: number
  /** The longest of each account; null where it was not noted. */
  readonly gapsByAccount: Latency | null
  /** From the request of a submission to the reply that showed it final, of a sample. */
  readonly toFinal: Latency
  /** How late requests were sent that had a time of their own; null in a closed loop. */
  readonly lateness: Latency | null
  /** Whether there was nothing left to send before the time was over. */
  readonly ranDry: boolean
}

export type LoadReply =
  | { readonly kind: 'done' }
  | { readonly kind: 'ran'; readonly result: RunResult }
  | { readonly kind: 'failed'; readonly message: string }
