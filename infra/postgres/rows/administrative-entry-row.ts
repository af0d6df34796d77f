/** A row of the administrative chain. Its document is the payload, sealed for its sequence. */
import { chainHash } from '../../../actors/audit-chain.ts'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import type { AdministrativeEntry } from '../../../runtime/ports/administrative-chain.ts'
import { LEDGER_KEY_NAME } from '../../vault/key-name.ts'
import { placeOf } from '../../vault/place.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'

export interface AdministrativeEntryRow {
  readonly sequence: string
  /** Keyed hash of the account; null: none. */
  readonly account_id: string | null
  readonly previous_hash: Buffer
  readonly audit_hash: Buffer
  readonly document: Buffer
}

/** The document of a row, in hexadecimal digits. The vault has the key LEDGER_KEY_NAME. */
export function sealAdministrativePayload(vault: RowVault, sequence: number, payload: string): string {
  return vault.seal(LEDGER_KEY_NAME, placeOfEntry(sequence), payload)
}

/** Without payload if the row does not open, does not have its hash, or has another account than its payload. */
export function openAdministrativeEntry(row: AdministrativeEntryRow, vault: RowVault): AdministrativeEntry {
  const sequence = Number(row.sequence)
  const previousHash = row.previous_hash.toString('hex')
  const auditHash = row.audit_hash.toString('hex')
  const payload = payloadOf(row, vault)
  const isWhole =
    payload !== null &&
    chainHash(previousHash, payload) === auditHash &&
    (JSON.parse(payload) as JsonObject)['account_ref'] === row.account_id
  return { sequence, previousHash, auditHash, payload: isWhole ? payload : null }
}

function payloadOf({ sequence, document }: AdministrativeEntryRow, vault: RowVault): string | null {
  try {
    return vault.open(LEDGER_KEY_NAME, placeOfEntry(Number(sequence)), document)
  } catch (error) {
    if (error instanceof UnreadableRow) return null
    throw error
  }
}

function placeOfEntry(sequence: number) {
  return placeOf('administrative_entries', sequence)
}
