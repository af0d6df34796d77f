import { appendEntry, type AuditEntry, ENTRY_FORMAT } from '../../actors/audit-chain.ts'
import type { JsonObject } from '../../actors/canonical-json.ts'

/** An entry with whatever fields a test gives it. */
export function chainEntry(
  previous: string,
  sequence: number,
  txnId: string | null,
  salt: string,
  fields: JsonObject,
): AuditEntry {
  return appendEntry(previous, { ...fields, format: ENTRY_FORMAT, salt, sequence, txn_id: txnId })
}
