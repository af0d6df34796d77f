/** What the bench and its load generator say to each other. */
import type { Latency } from './statistics.ts'

/** `fund`: one large credit for each account. `transfer`: from account to account, on different shards. */
export type Scenario = 'random' | 'hot' | 'fund' | 'transfer'

/** The shard of each account that can take part in transfers. */
export type ShardByAccount = Readonly<Record<string, number>>

/**
 * Closed: each connection sends its next request when the reply to the last one is in. Open: requests come at a constant
 * rate whatever becomes of those before them, and are measured from when they were to be sent.
 */
export type Loop =
  | { readonly kind: 'closed'; readonly connections: number }
  | { readonly kind: 'open'; readonly connections: number; readonly perSecond: number }

/** `polled`: looked at every few milliseconds. `waited`: by `Prefer: wait`, which looks at intervals of its own. */
export type FollowedHow = 'polled' | 'waited'

/** The share of the accepted submissions that is followed until each is final. */
export interface FollowPlan {
  readonly how: FollowedHow
  readonly share: number
}

export interface RunPlan {
  readonly loop: Loop
  readonly seconds: number
  readonly followed: readonly FollowPlan[]
}

export type LoadOrder =
  | { readonly kind: 'setup'; readonly origin: string; readonly token: string; readonly accounts: number }
  | { readonly kind: 'register'; readonly connections: number }
  /** Before transfers are prepared. */
  | { readonly kind: 'locate'; readonly shards: ShardByAccount }
  /** Signs submissions until so many are ready, to be sent by the runs that follow. */
  | { readonly kind: 'prepare'; readonly scenario: Scenario; readonly count: number }
  /** Sends what was prepared, for at most so long. */
  | { readonly kind: 'run'; readonly plan: RunPlan }

export interface RunResult {
  /** From the first request to the last reply; what is followed may be final later. */
  readonly durationMs: number
  /** How many replies had which status. */
  readonly statuses: Readonly<Record<string, number>>
  /** Bodies of some replies with a status that was not expected. */
  readonly surprises: readonly string[]
  /** Of the replies with the expected status. */
  readonly latency: Latency
  /** From the request of a submission to the reply that showed it final, of a sample. */
  readonly toFinal: Readonly<Record<FollowedHow, Latency>>
  /** How late requests were sent that had a time of their own; null in a closed loop. */
  readonly lateness: Latency | null
  /** Whether there was nothing left to send before the time was over. */
  readonly ranDry: boolean
}

export type LoadReply =
  | { readonly kind: 'done' }
  | { readonly kind: 'ran'; readonly result: RunResult }
  | { readonly kind: 'failed'; readonly message: string }
