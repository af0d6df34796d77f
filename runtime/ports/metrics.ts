/**
 * Counters of events for operators. Values that can be read at any time (queues, ages, shards owned) are not
 * counted here: its holder is asked, by `measures()`.
 *   M1. What a call names comes from closed sets: never an account, a client, a token, a key or a shard.
 *   M2. A call costs no more than some additions, does not wait and does not throw.
 */
import type { RefusalCode } from '../../actors/refusal.ts'

export interface NodeMetrics {
  /** Outcomes of edges' items: each is counted as it comes, and once more if it is given up later. */
  readonly items: (fate: ItemFate, items: number) => void
  /** One statement, however it ended: signing its receipts is part of the time. */
  readonly commit: (result: CommitResult, durationMs: number) => void
  /** Contents of one commit. */
  readonly batch: (commands: number, shards: number) => void
  readonly moves: (move: ShardMove, shards: number) => void
}

/** Both entered a mailbox. `given_up`: left with an unknown outcome. `not_applied`: the store refused the commit. */
export type ItemFate = 'entered' | 'moved' | 'overloaded' | 'rejected' | 'given_up' | 'not_applied'
/** `held_back`: the fence let at least one of its shards not pass: it was busy, or another's. */
export type CommitResult = 'applied' | 'held_back' | 'failed' | 'unknown'
/**
 * `handed_over`: given away, and taken at once by who was told. `released`: given away, and free. `fenced`: lost to
 * another owner. `quarantined`: it broke an invariant here.
 */
export type ShardMove = 'acquired' | 'handed_over' | 'released' | 'fenced' | 'quarantined'

export interface GatewayMetrics {
  /** Once for each request, when its client is told. `operation`: the kind of operation. */
  readonly submission: (operation: string, end: SubmissionEnd) => void
}

export type SubmissionEnd =
  | { readonly outcome: 'accepted' }
  | { readonly outcome: 'refused'; readonly code: RefusalCode }
  /** Proved not to be applied, or not known; the code says why. */
  | { readonly outcome: 'overloaded' | 'not_applied' | 'unknown'; readonly code: UnavailableReason }
export type UnavailableReason = 'no_shards' | 'no_healthy_shards' | 'shard_unavailable' | 'overloaded'

export interface HttpMetrics {
  /** `route`: the pattern, never the path. `durationMs`: until the answer was made. */
  readonly request: (method: string, route: string, status: number, durationMs: number) => void
}
