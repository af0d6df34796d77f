/** Calls that are several statements of the simulated database: each sees what is committed as it runs. */
import type { ShardStart } from '../../runtime/ports/ledger-store.ts'
import type { Rows } from './sim-ledger-store-rows.ts'

export interface Statements<T> {
  /** In no order, each at a moment of its own. */
  readonly statements: readonly (() => void)[]
  /** Once all statements have run. */
  readonly answer: () => T
}

export interface StatementWorld {
  /** What a statement that runs now sees of a shard. */
  readonly rowsOf: (shardId: number) => Rows
  /** The same of all shards. */
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
