/**
 * Remembers a few committed values of each shard, and compares them with every connection that is opened later.
 *   E1. A server that was put back to an earlier state may have the same identity, timeline and epochs. A missing
 *       acknowledged value shows it, whichever node owns the shard: versions and counters only grow.
 *   E2. Rows of accounts and counters of messages are never deleted: a missing row was never committed.
 */
import type { CommitBatch, ShardBatch } from '../../../runtime/ports/ledger-store.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import type { Sql } from '../connection/connection.ts'

export interface Evidence {
  /** These shards of the batch were answered as committed. */
  readonly note: (batch: CommitBatch, committed: ReadonlySet<number>) => void
  /** A shard that lacks what was committed; undefined if none does. */
  readonly lackingShard: (sql: Sql) => Promise<number | undefined>
}

/** The latest of each kind. */
interface Known {
  account: { readonly ref: string; readonly version: number } | undefined
  sent: { readonly target: number; readonly number: number } | undefined
  mark: { readonly source: number; readonly number: number } | undefined
}

export function createEvidence(vault: RowVault): Evidence {
  const shards = new Map<number, Known>()

  function noteShard(batch: ShardBatch): void {
    const { shardId } = batch.token
    const account = batch.accounts.at(-1)?.account
    const sent = batch.sent.at(-1)
    const mark = batch.marks.at(-1)
    const known: Known = shards.get(shardId) ?? { account: undefined, sent: undefined, mark: undefined }
    if (account !== undefined) known.account = { ref: vault.accountRef(account.accountId), version: account.version }
    if (sent !== undefined) known.sent = { target: sent.target, number: sent.sent }
    if (mark !== undefined) known.mark = { source: mark.source, number: mark.mark }
    shards.set(shardId, known)
  }

  return {
    note: ({ shards: parts }, committed) => {
      for (const part of parts) if (committed.has(part.token.shardId)) noteShard(part)
    },
    lackingShard: async (sql) => {
      const known = [...shards].map(([shardId, { account, sent, mark }]) => ({
        shard_id: shardId,
        account_id: account?.ref,
        version: account?.version,
        target_shard: sent?.target,
        sent: sent?.number,
        source_shard: mark?.source,
        mark: mark?.number,
      }))
      const [row] = await sql<{ shard_id: number }[]>`
        SELECT k.shard_id
          FROM json_to_recordset(${JSON.stringify(known)}::text::json) AS k (
               shard_id integer, account_id text, version bigint, target_shard integer, sent bigint,
               source_shard integer, mark bigint)
          LEFT JOIN accounts a USING (shard_id, account_id)
          LEFT JOIN outbox_channels c USING (shard_id, target_shard)
          LEFT JOIN inbox_marks m USING (shard_id, source_shard)
         WHERE coalesce(a.version, 0) < k.version OR coalesce(c.sent, 0) < k.sent OR coalesce(m.mark, 0) < k.mark
         LIMIT 1`
      return row?.shard_id
    },
  }
}
