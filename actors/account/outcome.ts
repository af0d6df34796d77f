/** What a step says: answers to the caller, refusals, and the facts to be made durable with them. */
import type { AuditEntry } from '../audit-chain.ts'
import type { JsonObject } from '../canonical-json.ts'
import type { KeyedOperation, TransactionType } from './commands.ts'
import type { AccountKey, AccountState } from './state.ts'

/** Why an accepted transaction ended `failed`. Never reused, never renamed: clients store them. */
export type FailureCode =
  | 'insufficient_funds'
  | 'balance_limit'
  | 'asset_limit'
  | 'account_frozen'
  | 'account_closed'
  | 'incoming_refused'

export interface Failure {
  readonly code: FailureCode
  readonly detail: string
}

/** A transaction as it is stored. Immutable once its status is final. */
export interface Transaction {
  readonly txnId: string
  readonly accountId: string
  readonly shardId: number
  readonly type: TransactionType
  readonly amount: string
  readonly tokenId: string
  readonly groupId: string | null
  readonly status: 'completed' | 'failed'
  readonly failure: Failure | null
  readonly origin: 'client' | 'ledger'
  readonly metadata: JsonObject | null
  readonly createdAtMs: number
  readonly processedAtMs: number
  /** The chain's fields are null for a failed transaction: only what changed the account is in its chain. */
  readonly sequence: number | null
  readonly previousHash: string | null
  readonly auditHash: string | null
  readonly idempotencyKey: string
  /** The canonical payload that the client signed, its SHA-256, the signature as it came and the key it was accepted under. */
  readonly payload: string
  readonly payloadHash: string
  readonly signature: string
  readonly keyId: string
}

/** An idempotent operation that is no transaction: its original answer is kept whole. `keyId`: the key it was accepted under. */
export interface RecordedOperation {
  readonly accountId: string
  readonly operation: Exclude<KeyedOperation, 'transaction'>
  readonly idempotencyKey: string
  readonly payloadHash: string
  readonly keyId: string
  readonly answer: AccountView
  readonly atMs: number
}

/** The facts a step adds, besides the account's next state. */
export type Effect =
  | { readonly kind: 'entry_appended'; readonly entry: AuditEntry }
  | { readonly kind: 'transaction_decided'; readonly transaction: Transaction }
  | { readonly kind: 'balance_changed'; readonly tokenId: string }
  | { readonly kind: 'key_registered'; readonly key: AccountKey; readonly fromSequence: number; readonly atMs: number }
  | { readonly kind: 'operation_recorded'; readonly operation: RecordedOperation }

/** What the 202 says; a repeat says the same, byte for byte. */
export interface SubmissionReceipt {
  readonly txnId: string
  readonly accountId: string
  readonly shardId: number
  readonly enqueuedAtMs: number
  readonly groupId: string | null
}

/** An account as it is shown. */
export interface AccountView {
  readonly accountId: string
  readonly status: AccountState['status']
  readonly incoming: AccountState['incoming']
  readonly key: AccountKey | null
  readonly shardId: number
  readonly sequence: number
  readonly auditHash: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

export function viewOf(account: AccountState): AccountView {
  return {
    accountId: account.accountId,
    status: account.status,
    incoming: account.incoming,
    key: account.key,
    shardId: account.shardId,
    sequence: account.sequence,
    auditHash: account.tip,
    createdAtMs: account.createdAtMs,
    updatedAtMs: account.updatedAtMs,
  }
}

/** `replayed`: the answer is the one that an earlier request got; `mismatch`: and this request's payload was another. */
export type Answer =
  | {
      readonly kind: 'accepted'
      readonly receipt: SubmissionReceipt
      readonly replayed: boolean
      readonly mismatch: boolean
    }
  | {
      readonly kind: 'registered'
      readonly account: AccountView
      readonly created: boolean
      readonly replayed: boolean
    }
  | { readonly kind: 'rotated'; readonly account: AccountView; readonly replayed: boolean; readonly mismatch: boolean }
  | { readonly kind: 'status_changed'; readonly account: AccountView }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly detail: string; readonly field: string | null }

/** What the operation answered when it was new. */
export function originalAnswer({ operation, answer }: Pick<RecordedOperation, 'operation' | 'answer'>): Answer {
  switch (operation) {
    case 'registration':
      return { kind: 'registered', account: answer, created: true, replayed: false }
    case 'key_rotation':
      return { kind: 'rotated', account: answer, replayed: false, mismatch: false }
  }
}

/** Why a command was refused: nothing changed, and its key is free. In the order in which they are judged (D7). */
export const REFUSAL_CODES = [
  'account_not_found',
  'account_keyless',
  'signature_mismatch',
  'boundary_not_granted',
  'wrong_ledger',
  'expired',
  'token_not_found',
  'class_not_found',
  'group_terms_unknown',
  'public_key_conflict',
  'proof_missing',
  'proof_mismatch',
  'account_not_active',
  'account_closed',
  'account_not_empty',
  'rejected',
] as const
export type RefusalCode = (typeof REFUSAL_CODES)[number]

export function refusal(code: RefusalCode, detail: string, field: string | null = null): Answer {
  return { kind: 'refused', code, detail, field }
}

/** What an idempotency key did before: found in memory or in the ledger. */
export interface EarlierUse {
  readonly payloadHash: string
  /** The key that the original was accepted under: a repeat may be signed by it. */
  readonly key: AccountKey
  readonly answer: Answer
}
