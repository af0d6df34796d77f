/**
 * The lines of an export (D20): one record a line, in canonical JSON (RFC 8785), each with its number and the hash of the
 * line before, which locates a changed, lost or moved line. The last line is the proof.
 * Snake case: these are the members of the file.
 */
import { createHash } from 'node:crypto'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'

export const EXPORT_FORMAT = 1
export const PROOF_SYSTEM = 'ecdsa-p256-sha256'

/** `sha256:` and 64 zeros: what the first line has for the line before. */
export const NO_LINE = `sha256:${'0'.repeat(64)}`

type Line = {
  /** From 0. */
  readonly line: number
  /** `lineHash` of the line before. */
  readonly previous_hash: string
}

export type LedgerRecord = Line & {
  readonly record: 'ledger'
  readonly format: typeof EXPORT_FORMAT
  readonly ledger_id: string
  /** The ledger that it is for. */
  readonly audience: string
  readonly mode: 'copy' | 'move'
  /** Whether accounts were left out. */
  readonly partial: boolean
  /** RFC 3339: the moment that all of it is of. */
  readonly exported_at: string
  /** JWE to the receiver: 32 hexadecimal digits that hashes of used keys are salted with. */
  readonly encrypted_key_salt: string
}

export type TokenRecord = Line & {
  readonly record: 'token'
  readonly symbol: string
  readonly decimals: number
  readonly issuer: string
  readonly initial_supply: string
  readonly total_supply: string
  readonly created_at: string
}

export type ClassRecord = Line & {
  readonly record: 'nft_class'
  readonly class_id: string
  readonly name: string
  readonly description: string
  readonly issuer: string
  readonly metadata_schema: JsonObject
  readonly created_at: string
}

export type InstanceRecord = Line & {
  readonly record: 'nft_instance'
  readonly class_id: string
  readonly instance_id: string
  /** Of one that is burned, the last. */
  readonly owner: string
  readonly status: 'active' | 'burned'
  readonly metadata: JsonObject
  readonly minted_at: string
  readonly acquired_at: string
  /** All of it, oldest first. */
  readonly history: readonly EventRecord[]
}

/** `payload`: the exact string that was hashed: event_hash = SHA-256(previous hash || SHA-256(payload)). */
export type EventRecord = {
  readonly type: 'mint' | 'transfer' | 'burn'
  readonly from: string | null
  readonly to: string
  readonly txn_id: string
  readonly timestamp: string
  readonly previous_hash: string
  readonly event_hash: string
  readonly payload: string
}

/** `attestation`: as GET /v1/attestations/{id} shows it, the signature of the exporting ledger with it. */
export type AttestationRecord = Line & { readonly record: 'attestation'; readonly attestation: JsonObject }

export type AccountRecord = Line & {
  readonly record: 'account'
  readonly account_id: string
  readonly status: 'active' | 'frozen' | 'closed'
  readonly incoming: 'accept' | 'refuse'
  /** A JWK; null for an account without a key. */
  readonly public_key: JsonObject | null
  readonly balances: readonly BalanceRecord[]
  /** Transactions that completed. */
  readonly txn_count: number
  /** The hash that its chain ended with. */
  readonly audit_hash: string
  readonly created_at: string
  readonly updated_at: string
}

/** `encrypted_balance`: compact JWE (ECDH-ES, A256GCM) of `balanceText`. None is zero. */
export type BalanceRecord = {
  readonly token_id: string
  readonly encrypted_balance: string
}

/** Hashes of the account's used idempotency keys: follows the account, at most 2,000 a line, `part` from 0. See `usedKeyHash`. */
export type UsedKeysRecord = Line & {
  readonly record: 'used_keys'
  readonly account_id: string
  readonly part: number
  readonly hashes: readonly string[]
}

export type ProofRecord = Line & {
  readonly record: 'proof'
  readonly ledger_id: string
  readonly audience: string
  readonly timestamp: string
  readonly requester: string
  readonly proof_system: typeof PROOF_SYSTEM
  /** `sha256:` and the hash over all lines before, each with its line feed. */
  readonly proof_hash: string
  /** Of the assertion key of the exporting ledger. */
  readonly key_id: string
  /** DER in base64, over the canonical JSON of this record without it. */
  readonly signature: string
}

export type ExportRecord =
  | LedgerRecord
  | TokenRecord
  | ClassRecord
  | InstanceRecord
  | AttestationRecord
  | AccountRecord
  | UsedKeysRecord
  | ProofRecord

/** Without its line feed. */
export function lineOf(record: ExportRecord): string {
  return canonicalJson(record)
}

/** `sha256:` and 64 hexadecimal digits. `line`: without its line feed. */
export function lineHash(line: string): string {
  return `sha256:${createHash('sha256').update(line, 'utf8').digest('hex')}`
}

/**
 * The plaintext of an encrypted balance. It names account and token, so it cannot pass for another, and has a fixed length,
 * so its length reveals nothing.
 */
export function balanceText(accountId: string, tokenId: string, balance: string): string {
  return canonicalJson({ account_id: accountId, balance, token_id: tokenId }).padEnd(BALANCE_TEXT_LENGTH, ' ')
}

/** The longest account ID, token ID and balance, with room. All of it is ASCII. */
const BALANCE_TEXT_LENGTH = 320
