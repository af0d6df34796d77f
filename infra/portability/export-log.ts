/** Says in an export where it stands in the log of the ledger: the published head of its snapshot, and proofs of accounts. */
import type postgres from 'postgres'
import { TreeProofs } from '../../runtime/log/tree-proofs.ts'
import { LogStoreUnavailable } from '../../runtime/ports/log-store.ts'
import { placeOfEntry } from '../log/entry-place.ts'
import { accountLogKey, EntrySalts, logEntry } from '../log/log-entry.ts'
import { readEntries, readHashes } from '../log/log-store-postgres.ts'
import type { AccountRecord, LedgerRecord } from '../../api/schemas/requests/export-records.ts'
import type { ReadAccount } from './export-accounts.ts'
import type { Selection } from './export-selection.ts'

/** A proof takes some milliseconds. The snapshot of a larger export must not wait for them. */
export const MAX_PROVED_ACCOUNTS = 1_000

export interface ExportLog {
  /** Empty before the log has published a head. */
  readonly head: Pick<LedgerRecord, 'log_head'>
  /** Of the account's last entry; empty if the published log does not have it yet. */
  readonly proofOf: (account: ReadAccount) => Promise<Pick<AccountRecord, 'log_proof'>>
}

/** `logKey`: the secret from which the log keys of all accounts follow. */
export async function openExportLog(sql: postgres.Sql, selection: Selection, logKey: Buffer): Promise<ExportLog> {
  const [published] = await sql<{ size: string; note: string }[]>`SELECT size, note FROM log_published`
  if (published === undefined) return { head: {}, proofOf: () => Promise.resolve({}) }
  const size = Number(published.size)
  const isProved = selection.places !== null && selection.places.length <= MAX_PROVED_ACCOUNTS
  const proofs = new TreeProofs(async (...tile) => {
    const hashes = await readHashes(sql, ...tile)
    if (hashes === undefined) throw new LogStoreUnavailable('the log lacks a tile')
    return hashes
  }, size)
  const entries = (number: number, width: number) => readEntries(sql, number, width)
  return {
    head: { log_head: published.note },
    proofOf: async ({ row }) => {
      if (!isProved) return {}
      const { shard_id: shardId, account_id: ref, sequence } = row
      const [last] = await sql<{ audit_hash: Buffer; xid: string }[]>`
        SELECT audit_hash, commit_xid::text AS xid FROM chain_entries
         WHERE shard_id = ${shardId} AND account_id = ${ref} AND sequence = ${sequence}`
      if (last === undefined) return {}
      const salt = new EntrySalts(accountLogKey(logKey, ref)).of(Number(sequence))
      const entry = logEntry(salt, last.audit_hash)
      const index = await placeOfEntry(sql, { entries }, { entry, xid: last.xid })
      if (typeof index !== 'number' || index >= size) return {}
      const hashes = (await proofs.inclusion(index)).map((hash) => hash.toString('base64'))
      return { log_proof: { salt: salt.toString('base64'), index, hashes } }
    },
  }
}
