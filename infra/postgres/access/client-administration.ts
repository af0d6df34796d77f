/**
 * Clients as administrators of the API see and change them.
 *   M1. A change locks the rows of its maker and its target, in the order of their IDs, and judges the maker on the locked
 *       row (X6 of the port). The locks also keep both rows as they were read (X6 of the store).
 */
import type postgres from 'postgres'
import { isoTimestamp } from '../../../actors/timestamp.ts'
import {
  type Administrator,
  type ClientAddition,
  type ClientRecord,
  type RefusedMaker,
  refusedMaker,
} from '../../../runtime/ports/access-store.ts'
import { LEDGER_KEY_NAME } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { type ClientRow, sealedClient } from './client-document.ts'
import { findRows, readableOf, revokeFamilies } from './client-rows.ts'

/** `next`: the ID to continue after; null on the last page. */
export async function readClients(
  sql: postgres.Sql,
  vault: RowVault,
  after: string | null,
  limit: number,
): Promise<{ readonly rows: readonly ClientRow[]; readonly next: string | null }> {
  const found = await findRows(sql, vault, sql`WHERE client_id > ${after ?? ''} ORDER BY client_id LIMIT ${limit + 1}`)
  const rows = found.slice(0, limit)
  return { rows, next: found.length > limit ? (rows.at(-1)?.client_id ?? null) : null }
}

/** Undefined: a client of this ID was created meanwhile. */
export async function addClient(
  sql: postgres.Sql,
  vault: RowVault,
  client: ClientRecord,
  maker: Administrator,
): Promise<ClientAddition | undefined> {
  await vault.keys.fetch(sql, [LEDGER_KEY_NAME])
  return await sql.begin<ClientAddition | undefined>(async (transaction) => {
    const found = await lockClients(transaction, vault, [maker.clientId, client.clientId])
    const refused = refusedMaker(found.get(maker.clientId), maker)
    if (refused !== undefined) return refused
    const exists = found.get(client.clientId)
    if (exists !== undefined) return { exists }
    const { count } = await transaction`
      INSERT INTO clients (client_id, document)
      VALUES (${client.clientId}, decode(${sealedClient(client, vault)}, 'hex')) ON CONFLICT DO NOTHING`
    return count === 0 ? undefined : 'created'
  })
}

interface Ending {
  readonly clientId: string
  readonly atMs: number
  readonly maker: Administrator
}

/** Its last statement sees the families of logins that held the client's row when the lock waited for it (X3). */
export async function endClient(
  sql: postgres.Sql,
  vault: RowVault,
  { clientId, atMs, maker }: Ending,
): Promise<ClientRecord | 'absent' | 'unreadable' | RefusedMaker> {
  await vault.keys.fetch(sql, [LEDGER_KEY_NAME])
  return await sql.begin<ClientRecord | 'absent' | 'unreadable' | RefusedMaker>(async (transaction) => {
    const clients = await lockClients(transaction, vault, [maker.clientId, clientId])
    const refused = refusedMaker(clients.get(maker.clientId), maker)
    if (refused !== undefined) return refused
    const found = clients.get(clientId)
    if (typeof found !== 'object') return found ?? 'absent'
    const ended = { ...found, revokedAtMs: found.revokedAtMs ?? atMs }
    if (found.revokedAtMs === null) {
      await transaction`
        UPDATE clients SET revoked_at = ${isoTimestamp(atMs)}, document = decode(${sealedClient(ended, vault)}, 'hex')
         WHERE client_id = ${clientId}`
    }
    await revokeFamilies(transaction, clientId, isoTimestamp(atMs))
    return ended
  })
}

async function lockClients(
  sql: postgres.TransactionSql,
  vault: RowVault,
  clientIds: readonly [string, string],
): Promise<ReadonlyMap<string, ClientRecord | 'unreadable'>> {
  const rows = await sql<ClientRow[]>`
    SELECT client_id, document, revoked_at FROM clients
     WHERE client_id IN ${sql(clientIds)} ORDER BY client_id FOR UPDATE`
  return new Map(rows.map((row) => [row.client_id, readableOf(row, vault) ?? 'unreadable']))
}
