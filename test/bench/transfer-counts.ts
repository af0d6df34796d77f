/** What the ledger itself says of transfers, in PostgreSQL: the interface has no exact count by type. */
import postgres from 'postgres'
import type { ShardByAccount } from './load-messages.ts'

/** All in one snapshot. */
export interface TransferCounts {
  /** Transfers that clients submitted. */
  readonly accepted: number
  /** Of these, completed at the sender, which is after the receiver was credited. */
  readonly settled: number
  readonly pending: number
  readonly failed: number
  /** Completed credits at receivers: in the end as many as transfers. */
  readonly credits: number
}

export interface TransferLedger {
  readonly shards: () => Promise<ShardByAccount>
  /** Of the transfers since `since`, a number that `lastCommit` gave. */
  readonly counts: (since: string) => Promise<TransferCounts>
  /** Commits that wrote a transaction or an audit entry of one, since then. */
  readonly commits: (since: string) => Promise<number>
  readonly end: () => Promise<void>
}

export function openTransferLedger(databaseUrl: string): TransferLedger {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined })
  return {
    shards: async () => {
      const rows = await sql<{ account_id: string; shard_id: number }[]>`SELECT account_id, shard_id FROM accounts`
      return Object.fromEntries(rows.map(({ account_id: accountId, shard_id: shardId }) => [accountId, shardId]))
    },
    counts: async (since) => {
      const [row] = await sql<[TransferCounts]>`
        SELECT count(*) FILTER (WHERE type = 'transfer')::integer AS accepted,
               count(*) FILTER (WHERE type = 'transfer' AND status = 'completed')::integer AS settled,
               count(*) FILTER (WHERE type = 'transfer' AND status = 'pending')::integer AS pending,
               count(*) FILTER (WHERE status = 'failed')::integer AS failed,
               count(*) FILTER (WHERE type = 'credit' AND from_account_id IS NOT NULL AND status = 'completed')::integer
                 AS credits
          FROM transactions WHERE commit_xid >= ${since}::text::xid8`
      return { ...row }
    },
    commits: async (since) => {
      // xmin: a transfer's row was written a second time by the commit that completed it.
      const [row] = await sql<[{ commits: number }]>`
        WITH recent AS (SELECT commit_xid::xid AS first, xmin AS last FROM transactions WHERE commit_xid >= ${since}::text::xid8)
        SELECT count(*)::integer AS commits FROM (SELECT first::text FROM recent UNION SELECT last::text FROM recent) AS all_of_them`
      return row.commits
    },
    end: () => sql.end(),
  }
}
