/**
 * Shards as operators see them: who owns each, how it fares, how much it has done, and what an administrator said of it.
 * Contract: test/contract/shard-health.contract.ts
 *   H1. What is recorded, the next call of `shard` and `shards` shows, at every process.
 *   H2. The count of finished transactions is exact and never falls.
 *   H3. Nothing here waits for a commit, and no commit waits for anything here.
 * Every failure is a `ShardHealthUnavailable`.
 */
/** Their meaning: runtime/node/ownership/shard-state.ts. */
export const HEALTH_STATES = ['healthy', 'moving', 'draining', 'unavailable'] as const
export type HealthState = (typeof HEALTH_STATES)[number]

export interface ShardHealth {
  /** By shard ID, from the one after `after` (-1: from the start). */
  readonly shards: (after: number, limit: number) => Promise<ShardsPage>
  /** undefined: the ledger has no such shard. */
  readonly shard: (shardId: number) => Promise<ShardView | undefined>
  /** The same again changes nothing, `updatedAtMs` included. */
  readonly record: (change: HealthChange) => Promise<HealthOutcome>
}

export interface ShardView {
  readonly shardId: number
  /** The ID of the node; null: nobody. */
  readonly owner: string | null
  readonly epoch: number
  readonly healthState: HealthState
  /** Transactions that ended in it, completed and failed. */
  readonly txnCount: number
  /** When its ownership changed, or what is recorded of it, whichever was later. */
  readonly updatedAtMs: number
}

export interface ShardsPage {
  readonly shards: readonly ShardView[]
  /** The shard ID to go on after; null: nothing follows. */
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
  /** Recorded only if the shard has processed as many; null: in any case. */
  readonly minTxnCount: number | null
  /** The client that says so. */
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
