/**
 * Clients at rest: all that a client may do, and what it proves itself with, is one text, sealed for it under the ledger's
 * data key.
 *   D1. The sealed text decides. An attacker who can write rows but has no key cannot change a client's role, scope or
 *       secret: the text of another client does not open, and columns that differ from it make the row unreadable.
 */
import * as v from 'valibot'
import { ROLES } from '../../../actors/account/commands.ts'
import type { ClientRecord } from '../../../runtime/ports/access-store.ts'
import { LEDGER_KEY_NAME } from '../../vault/key-name.ts'
import { openJson } from '../../vault/open-json.ts'
import { type Place, placeOf } from '../../vault/place.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'

export interface ClientRow {
  readonly client_id: string
  readonly document: Buffer
  /** Beside the document: logins and exchanges of tokens ask for it where they hold the row. */
  readonly revoked_at: Date | null
}

const FORMAT = 1

const documentSchema = v.object({
  format: v.literal(FORMAT),
  clientId: v.string(),
  secretHash: v.nullable(v.string()),
  publicKey: v.nullable(v.string()),
  role: v.picklist(ROLES),
  boundary: v.union([v.boolean(), v.array(v.string())]),
  accounts: v.nullable(v.array(v.string())),
  rate: v.nullable(v.union([v.literal('none'), v.object({ perSecond: v.number(), burst: v.number() })])),
  createdAtMs: v.number(),
  revokedAtMs: v.nullable(v.number()),
})

export function placeOfClient(clientId: string): Place {
  return placeOf('clients', clientId)
}

/** As hexadecimal digits. */
export function sealedClient(client: ClientRecord, vault: RowVault): string {
  const { clientId, secretHash, publicKey, role, boundary, accounts, rate, createdAtMs, revokedAtMs } = client
  const proof = { secretHash, publicKey }
  const document = { format: FORMAT, clientId, ...proof, role, boundary, accounts, rate, createdAtMs, revokedAtMs }
  return vault.seal(LEDGER_KEY_NAME, placeOfClient(clientId), JSON.stringify(document))
}

/** Throws UnreadableRow. */
export function openClient(row: ClientRow, vault: RowVault): ClientRecord {
  const place = placeOfClient(row.client_id)
  const read = v.safeParse(documentSchema, openJson<unknown>(vault, LEDGER_KEY_NAME, place, row.document))
  if (!read.success) throw new UnreadableRow(place, 'its document does not say what such a document says')
  const { format: _, ...client } = read.output
  if (client.clientId !== row.client_id || client.revokedAtMs !== (row.revoked_at?.getTime() ?? null)) {
    throw new UnreadableRow(place, 'its columns do not say what was sealed')
  }
  return client
}
