/**
 * The audit chain of an account: each entry's hash covers the hash before it and the entry's payload.
 *   C1. audit_hash = SHA-256(previous hash as 32 raw bytes || SHA-256(payload as UTF-8) as 32 raw bytes).
 *   C2. Entry 0 is the registration; its previous hash is 32 zero bytes.
 * The payload is hashed by itself first, so that it can be erased and the chain still verified.
 */
import { hash } from 'node:crypto'
import { canonicalJson, type JsonObject } from './canonical-json.ts'

/** 64 lower-case hexadecimal digits, without the `sha256:` prefix that the API adds. */
export type Hash = string

export const GENESIS: Hash = '0'.repeat(64)

/**
 * The version of the payload's format, inside every payload. Format 2 has the available quantities after a transaction.
 * Entries of format 1, from before, stay valid.
 */
export const ENTRY_FORMAT = 2
export type EntryFormat = 1 | typeof ENTRY_FORMAT

export function isEntryFormat(value: unknown): value is EntryFormat {
  return value === 1 || value === ENTRY_FORMAT
}

export function sha256Hex(text: string): Hash {
  return hash('sha256', text, 'hex')
}

export function chainHash(previous: Hash, payload: string): Hash {
  return hash('sha256', Buffer.from(previous + hash('sha256', payload, 'hex'), 'hex'), 'hex')
}

/** A stored entry. `payload` is the exact string that was hashed. */
export interface AuditEntry {
  readonly sequence: number
  readonly txnId: string | null
  readonly previousHash: Hash
  readonly auditHash: Hash
  readonly payload: string
}

/**
 * Members of every entry's payload, in canonical order. `salt`: 32 random hexadecimal digits; without it a payload
 * could be guessed from its hash.
 */
export type EntryFields = JsonObject & {
  readonly format: EntryFormat
  readonly salt: string
  readonly sequence: number
  readonly txn_id: string | null
}

export function appendEntry(previous: Hash, fields: EntryFields): AuditEntry {
  const payload = canonicalJson(fields)
  const { sequence, txn_id: txnId } = fields
  return { sequence, txnId, previousHash: previous, auditHash: chainHash(previous, payload), payload }
}

/** The hash as the API shows it. */
export function showHash(hash: Hash): string {
  return `sha256:${hash}`
}
