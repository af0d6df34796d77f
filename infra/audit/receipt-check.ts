/**
 * Verifies receipts: recomputed from the transaction's row, under the key that they name.
 *   V1. The key is a receipt key of the service, is not revoked, and its ID is its thumbprint (RFC 7638).
 *   V2. The key was in use at the receipt's time, or shortly before or after: a node without access to the keys signs with
 *       the last ones that it read.
 */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { receiptPayload } from '../../actors/account/receipt.ts'
import type { TransactionRecord } from '../../actors/account/transaction.ts'
import type { ReceiptWrite } from '../../runtime/ports/ledger-store.ts'
import { verifiesText } from '../../api/endpoint/service-signature.ts'
import { thumbprintOf } from '../keys/public-key.ts'
import type { Query } from './audit-reads.ts'

/** Why the receipt is invalid; undefined when it is valid. */
export type ReceiptCheck = (transaction: TransactionRecord, receipt: ReceiptWrite) => string | undefined

/** V2: longest time that a node signs with keys it has read before. */
export const RECEIPT_SLACK_MS = 300_000

export const RECEIPT_KEYS = `
SELECT key_id, purpose, x, y, active_from, retired_at, revoked_at FROM service_keys`

interface KeyRow {
  readonly key_id: string
  readonly purpose: string
  readonly x: string
  readonly y: string
  readonly active_from: Date
  readonly retired_at: Date | null
  readonly revoked_at: Date | null
}

interface ReceiptKey {
  readonly key: KeyObject
  readonly fromMs: number
  readonly untilMs: number
}

export async function loadReceiptCheck(query: Query, ledgerId: string): Promise<ReceiptCheck> {
  const keys = new Map<string, ReceiptKey | string>()
  for (const row of await query<KeyRow>(RECEIPT_KEYS)) keys.set(row.key_id, keyOf(row))
  return (transaction, { keyId, signature }) => {
    const key = keys.get(keyId) ?? 'the key that its receipt names is not there'
    if (typeof key === 'string') return key
    const atMs = transaction.processedAtMs ?? Number.NaN
    if (!(atMs >= key.fromMs && atMs <= key.untilMs)) return 'the key that its receipt names was not in use then'
    const payload = receiptPayload(transaction, ledgerId, keyId)
    return verifiesText(key.key, payload, signature) ? undefined : 'its receipt does not verify'
  }
}

function keyOf(row: KeyRow): ReceiptKey | string {
  const { key_id: keyId, purpose, x, y, active_from: from, retired_at: until } = row
  if (purpose !== 'receipt') return 'the key that its receipt names is for another purpose'
  if (row.revoked_at !== null) return 'the key that its receipt names was revoked'
  const jwk = { kty: 'EC', crv: 'P-256', x, y } as const
  try {
    if (thumbprintOf(jwk) !== keyId) return 'the key that its receipt names is not the one of that name'
    return {
      key: createPublicKey({ key: jwk, format: 'jwk' }),
      fromMs: from.getTime() - RECEIPT_SLACK_MS,
      untilMs: until === null ? Number.POSITIVE_INFINITY : until.getTime() + RECEIPT_SLACK_MS,
    }
  } catch {
    return 'the key that its receipt names is no key'
  }
}
