/** A chain of alice, and receipts that a key of these tests signs. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { type AuditEntry, GENESIS, showHash } from '../../../../actors/audit-chain.ts'
import { canonicalJson, type JsonObject } from '../../../../actors/canonical-json.ts'
import { chainEntry } from '../../../support/chain.ts'

const PROCESSED_AT = '2026-05-01T12:00:00.000Z'
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const { x, y } = publicKey.export({ format: 'jwk' })
export const KEY = {
  kid: 'receipts',
  purpose: 'receipt',
  x,
  y,
  nbf: Date.parse('2026-01-01T00:00:00Z') / 1000,
  exp: Date.parse('2027-01-01T00:00:00Z') / 1000,
}
export const JWKS = { ledger_id: 'this-ledger', keys: [KEY] }

export const FIELDS = {
  kind: 'transaction',
  account_id: 'alice',
  shard_id: 3,
  type: 'credit',
  amount: '5',
  token_id: 'BASE',
  origin: 'client',
  created_at: PROCESSED_AT,
  processed_at: PROCESSED_AT,
}

export function chainOf(length: number): AuditEntry[] {
  const entries: AuditEntry[] = []
  for (let sequence = 0; sequence < length; sequence += 1) {
    const previous = entries.at(-1)?.auditHash ?? GENESIS
    const txnId = sequence === 0 ? null : `txn_${sequence}`
    entries.push(chainEntry(previous, sequence, txnId, `${sequence}`.repeat(32), FIELDS))
  }
  return entries
}

export function shown(entry: AuditEntry) {
  return {
    sequence: entry.sequence,
    txn_id: entry.txnId,
    previous_hash: showHash(entry.previousHash),
    audit_hash: showHash(entry.auditHash),
    payload: entry.payload,
  }
}

export type Shown = ReturnType<typeof shown>

export function receiptOf(entry: AuditEntry | undefined, changes: JsonObject = {}) {
  const { kind: _kind, ...fields } = FIELDS
  const receipt: JsonObject = {
    ...fields,
    ledger_id: 'this-ledger',
    key_id: 'receipts',
    txn_id: entry?.txnId ?? 'txn_none',
    status: 'completed',
    sequence: entry?.sequence ?? null,
    previous_hash: entry === undefined ? null : showHash(entry.previousHash),
    audit_hash: entry === undefined ? null : showHash(entry.auditHash),
    ...changes,
  }
  return { receipt, signature: sign('sha256', Buffer.from(canonicalJson(receipt)), privateKey).toString('base64') }
}
