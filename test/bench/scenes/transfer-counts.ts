/** The ledger's own counts of transfers, from PostgreSQL: the interface has no exact count by type. */
import { loadMasterKey } from '../../../infra/keys/master-key.ts'
import { ACCOUNT_COLUMNS, type AccountRow, openAccount } from '../../../infra/postgres/rows/account-document.ts'
import { accountKeyName } from '../../../infra/vault/key-name.ts'
import { loadedRows } from '../../support/loader/loaded-rows.ts'
import { countingConnection } from '../load/committed.ts'
import type { ShardByAccount } from '../load/load-messages.ts'

/** All in one snapshot. */
export interface TransferCounts {
  /** Transfers that clients submitted. */
  readonly accepted: number
  /** Of these, completed at the sender, after the credit at the receiver. */
  readonly settled: number
  readonly pending: number
  readonly failed: number
  /** Completed credits at receivers: in the end as many as transfers. */
  readonly credits: number
}

export interface TransferLedger {
  readonly shards: () => Promise<ShardByAccount>
  /** Of the transfers since `since`, a number from `lastCommit`. */
  readonly counts: (since: string) => Promise<TransferCounts>
  /** Commits since then that wrote a transaction or its audit entry. */
  readonly commits: (since: string) => Promise<number>
  readonly end: () => Promise<void>
}

/** Fewer than the key cache holds. */
const OPENED_AT_ONCE = 10_000

/** `masterKeyFile`: opens the rows of accounts, which alone contain their IDs. */
export function openTransferLedger(databaseUrl: string, masterKeyFile: string): TransferLedger {
  const sql = countingConnection(databaseUrl)
  return {
    shards: async () => {
      const { vault } = await loadedRows(sql, await loadMasterKey(masterKeyFile))
      const rows = await sql.unsafe<AccountRow[]>(`SELECT ${ACCOUNT_COLUMNS} FROM accounts a`)
      const shards: [accountId: string, shardId: number][] = []
      for (let from = 0; from < rows.length; from += OPENED_AT_ONCE) {
        const some = rows.slice(from, from + OPENED_AT_ONCE)
        const names = some.map((row) => accountKeyName(row.account_id))
        await vault.keys.fetch(sql, names)
        shards.push(...some.map((row) => [openAccount(row, vault).accountId, row.shard_id] as [string, number]))
      }
      return Object.fromEntries(shards)
    },
    counts: async (since) => {
      const [row] = await sql<[TransferCounts]>`
        SELECT count(*) FILTER (WHERE type = 'transfer')::integer AS accepted,
               count(*) FILTER (WHERE type = 'transfer' AND status = 'completed')::integer AS settled,
               count(*) FILTER (WHERE type = 'transfer' AND status = 'pending')::integer AS pending,
               count(*) FILTER (WHERE status = 'failed')::integer AS failed,
               count(*) FILTER (WHERE type = 'credit' AND origin = 'ledger' AND status = 'completed')::integer
                 AS credits
          FROM transaction_feed f JOIN all_transactions t ON t.txn_id = f.txn_id
         WHERE f.entered_xid >= ${since}::text::xid8`
      return { ...row }
    },
    commits: async (since) => {
      const [row] = await sql<[{ commits: number }]>`
        SELECT count(*)::integer AS commits FROM commits WHERE commit_xid >= ${since}::text::xid8`
      return row.commits
    },
    end: () => sql.end(),
  }
}
