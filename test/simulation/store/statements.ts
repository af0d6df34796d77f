/** Calls of several statements of the simulated database: each sees the commits at its execution. */
import type { ShardStart } from '../../../runtime/ports/ledger-store.ts'
import type { Rows } from './rows.ts'

export interface Statements<T> {
  /** In no order, each at a moment of its own. */
  readonly statements: readonly (() => void)[]
  /** Called after all statements. */
  readonly answer: () => T
}

export interface StatementWorld {
  /** A statement's view of a shard at this moment. */
  readonly rowsOf: (shardId: number) => Rows
  /** A statement's view of all shards. */
  readonly allRows: () => Rows
  readonly shuffled: <T>(items: readonly T[]) => readonly T[]
}

export function openShardStatements({ rowsOf }: StatementWorld, shardId: number): Statements<ShardStart> {
  const found: { -readonly [Part in keyof ShardStart]: ShardStart[Part] } = {
    lastTransactionId: null,
    channels: [],
    marks: [],
    outbox: [],
  }
  return {
    statements: [
      () => (found.lastTransactionId = rowsOf(shardId).transactionTable.lastId(shardId)),
      () => (found.channels = rowsOf(shardId).channels.channelStarts(shardId)),
      () => (found.marks = rowsOf(shardId).channels.marks(shardId)),
      () => (found.outbox = rowsOf(shardId).channels.outbox(shardId)),
    ],
    answer: () => found,
  }
}
