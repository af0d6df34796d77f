/**
 * Counters of events for operators. Values that can be read at any time (queues, ages, shards owned) come from
 * `measures()` of their holders.
 *   M1. Labels come from closed sets: never an account, a client, a token, a key or a shard.
 *   M2. A call costs no more than some additions, does not wait and does not throw.
 */
import type { RefusalCode } from '../../actors/refusal.ts'
import type { AttemptError, DisableReason } from './webhook-store.ts'

export interface NodeMetrics {
  /** Outcomes of items: each counts on arrival, and once more if it is given up later. */
  readonly items: (fate: ItemFate, items: number) => void
  /** One statement with any result; the time includes signing its receipts. */
  readonly commit: (result: CommitResult, durationMs: number) => void
  /** Contents of one commit. */
  readonly batch: (commands: number, shards: number) => void
  readonly moves: (move: ShardMove, shards: number) => void
}

/**
 * The last two entered a mailbox. `given_up`: left with an unknown outcome. `not_applied`: the store refused the
 * commit.
 */
export type ItemFate = 'entered' | 'moved' | 'overloaded' | 'rejected' | 'given_up' | 'not_applied'
/** `held_back`: the fence rejected at least one shard, because it was busy or had another owner. */
export type CommitResult = 'applied' | 'held_back' | 'failed' | 'unknown'
/**
 * `handed_over`: given to a successor that took it at once. `released`: given up without a successor. `fenced`: lost to
 * another owner. `quarantined`: an invariant broke here.
 */
export type ShardMove = 'acquired' | 'handed_over' | 'released' | 'fenced' | 'quarantined'

export interface GatewayMetrics {
  /** Once for each request, on its reply. `operation`: the kind of operation. */
  readonly submission: (operation: string, end: SubmissionEnd) => void
}

export type SubmissionEnd =
  | { readonly outcome: 'accepted' }
  | { readonly outcome: 'refused'; readonly code: RefusalCode }
  /** `not_applied` is proved, `unknown` is not; the code is the cause. */
  | { readonly outcome: 'overloaded' | 'not_applied' | 'unknown'; readonly code: UnavailableReason }
export type UnavailableReason = 'no_shards' | 'no_healthy_shards' | 'shard_unavailable' | 'overloaded'

export interface EventMetrics {
  /** Streams and requests that wait for events, at this edge. */
  readonly listeners: (listeners: number) => void
  /** Once for each event that the edge reads for its listeners. `lagMs`: since the fact was decided. */
  readonly seen: (lagMs: number) => void
}

export interface HttpMetrics {
  /** `route`: the pattern, never the path. `durationMs`: until the response is ready. */
  readonly request: (method: string, route: string, status: number, durationMs: number) => void
}

export interface WebhookMetrics {
  /** One attempt to deliver an event. */
  readonly attempt: (result: 'accepted' | AttemptError, latencyMs: number) => void
  readonly disabled: (reason: DisableReason) => void
}

/** `client_rate`: an edge refused it. `account_rate`: the shard owner refused it. */
export const LIMIT_REASONS = ['client_rate', 'account_rate'] as const
export type LimitReason = (typeof LIMIT_REASONS)[number]

export interface LimitMetrics {
  readonly limited: (reason: LimitReason, requests: number) => void
}
