import { createHash } from 'node:crypto'
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

/** The hash of an entry by its documented rule, with nothing of the code that tests check with it. */
export function linkHash(previous: string, payload: string): string {
  const digest = createHash('sha256').update(payload).digest()
  return createHash('sha256').update(Buffer.from(previous, 'hex')).update(digest).digest('hex')
}
