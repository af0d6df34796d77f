/** Finds the rows of the administrative chain that were changed, also in columns that the log does not have. */
import type postgres from 'postgres'
import { GENESIS } from '../../actors/audit-chain.ts'
import { type AdministrativeEntryRow, openAdministrativeEntry } from '../postgres/rows/administrative-entry-row.ts'
import { fetchKeys } from '../postgres/rows/opened-rows.ts'
import { LEDGER_KEY_NAME } from '../vault/key-name.ts'
import type { RowVault } from '../vault/row-vault.ts'

const ENTRIES_PER_FETCH = 2_000

export interface AdministrativeCheck {
  readonly sql: postgres.Sql
  readonly vault: RowVault
  /** Takes each problem as text. */
  readonly report: (problem: string) => void
}

/** Each entry has its payload, of its account, and continues the entry before. */
export async function checkAdministrativeEntries({ sql, vault, report }: AdministrativeCheck): Promise<void> {
  await fetchKeys(sql, [LEDGER_KEY_NAME], vault)
  const batches = sql<AdministrativeEntryRow[]>`
    SELECT sequence, account_id, previous_hash, audit_hash, document FROM administrative_entries
     ORDER BY sequence`.cursor(ENTRIES_PER_FETCH)
  let before = { sequence: -1, auditHash: GENESIS }
  for await (const rows of batches) {
    for (const row of rows) {
      const entry = openAdministrativeEntry(row, vault)
      const name = `administrative entry ${entry.sequence}`
      if (entry.payload === null) report(`${name}: its row was changed, or cannot be read`)
      if (entry.sequence !== before.sequence + 1 || entry.previousHash !== before.auditHash) {
        report(`${name} does not continue ${before.sequence < 0 ? 'an empty chain' : `entry ${before.sequence}`}`)
      }
      before = entry
    }
  }
}
