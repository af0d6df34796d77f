/** Rows of clients: their queries, and the steps that changes of clients share. */
import type postgres from 'postgres'
import { AccessStoreUnavailable, type ClientRecord } from '../../../runtime/ports/access-store.ts'
import { LEDGER_KEY_NAME } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import { type ClientRow, openClient } from './client-document.ts'

type Fragment = ReturnType<postgres.Sql>

/** X6. */
const CHANGE_TRIES = 10

/** With the key that they are read with. */
export async function findRows(sql: postgres.Sql, vault: RowVault, which: Fragment): Promise<readonly ClientRow[]> {
  const rows = await sql<ClientRow[]>`SELECT client_id, document, revoked_at FROM clients ${which}`
  await vault.keys.fetch(sql, [LEDGER_KEY_NAME])
  return rows
}

export async function findRow(sql: postgres.Sql, vault: RowVault, clientId: string): Promise<ClientRow | undefined> {
  const [row] = await findRows(sql, vault, sql`WHERE client_id = ${clientId}`)
  return row
}

/** Undefined: it cannot be read. */
export function readableOf(row: ClientRow, vault: RowVault): ClientRecord | undefined {
  try {
    return openClient(row, vault)
  } catch (error) {
    if (error instanceof UnreadableRow) return undefined
    throw error
  }
}

/** X6: tries again while concurrent writers change the row (undefined). */
export async function changed<T>(change: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < CHANGE_TRIES; tries += 1) {
    const outcome = await change()
    if (outcome !== undefined) return outcome
  }
  throw new AccessStoreUnavailable('The client is being changed by others all the time.')
}

export async function revokeFamilies(sql: postgres.TransactionSql, clientId: string, at: string): Promise<void> {
  await sql`UPDATE refresh_families SET revoked_at = ${at} WHERE client_id = ${clientId} AND revoked_at IS NULL`
}
