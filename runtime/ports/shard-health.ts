/**
 * Shards for operators: owner, health, number of transactions, and recorded state.
 * Contract: test/contract/shard-health.contract.ts
 *   H1. The next call of `shard` and `shards`, in any process, shows a recorded state.
 *   H2. The count of finished transactions is exact and never falls.
 *   H3. No call waits for a commit, and no commit waits for a call.
 * Every failure is a `ShardHealthUnavailable`.
 */
/** Their meaning: runtime/node/ownership/shard-state.ts. */
export const HEALTH_STATES = ['healthy', 'moving', 'draining', 'unavailable'] as const
export type HealthState = (typeof HEALTH_STATES)[number]

export interface ShardHealth {
  /** By shard ID, after `after` (-1: from the start). */
  readonly shards: (after: number, limit: number) => Promise<ShardsPage>
  /** undefined: the ledger has no such shard. */
  readonly shard: (shardId: number) => Promise<ShardView | undefined>
  /** Recording the same state again changes nothing, `updatedAtMs` included. */
  readonly record: (change: HealthChange) => Promise<HealthOutcome>
}

export interface ShardView {
  readonly shardId: number
  /** The ID of the node; null without an owner. */
  readonly owner: string | null
  readonly epoch: number
  readonly healthState: HealthState
  /** Number of completed and failed transactions. */
  readonly txnCount: number
  /** The later of the last change of owner and of the recorded state. */
  readonly updatedAtMs: number
}

export interface ShardsPage {
  readonly shards: readonly ShardView[]
  /** The shard ID to continue after; null on the last page. */
  readonly next: number | null
  /** All shards of the ledger. */
  readonly total: number
}

/** States that are declared; the others are observed. */
export const RECORDED_STATES = ['healthy', 'draining'] as const satisfies readonly HealthState[]
export type RecordedState = (typeof RECORDED_STATES)[number]

export interface HealthChange {
  readonly shardId: number
  readonly state: RecordedState
  /** Recorded only if the shard has processed this many; null: in any case. */
  readonly minTxnCount: number | null
  /** The client that recorded it. */
  readonly recordedBy: string
}

export type HealthOutcome =
  | { readonly kind: 'recorded'; readonly shard: ShardView }
  /** Fewer were processed: nothing was recorded. */
  | { readonly kind: 'too_few'; readonly txnCount: number }
  | { readonly kind: 'no_such_shard' }

export class ShardHealthUnavailable extends Error {
  override readonly name = 'ShardHealthUnavailable'
}
