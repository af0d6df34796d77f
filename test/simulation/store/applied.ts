/** Events of the simulated database, for checkers, witnesses and the story of a run. */
import type { ShardBatch } from '../../../runtime/ports/ledger-store.ts'
import type { ShardRow } from './rows.ts'

/** The effect of an applied commit, with the shard's row at that moment. */
export interface AppliedShard {
  readonly batch: ShardBatch
  readonly row: ShardRow
}

export interface AppliedCommit {
  readonly atMs: number
  readonly session: string
  readonly nodeId: string
  readonly shards: readonly AppliedShard[]
}

export interface ShardChange {
  readonly shardId: number
  readonly before: ShardRow
  readonly after: ShardRow
}
