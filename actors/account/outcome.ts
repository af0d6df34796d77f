import type { ActorAddress } from '../address.ts'
import type { ArrivalState } from '../arrival.ts'
import type { AuditEntry } from '../audit-chain.ts'
import type { GroupView } from '../group/state.ts'
import type { HoldView } from '../hold/state.ts'
import type { CarriedValue, Envelope, Message } from '../message.ts'
import type { Quantity } from '../money.ts'
import type { ClassView } from '../nft-class/state.ts'
import type { InstanceView, NftEvent } from '../nft-instance/state.ts'
import type { Rate } from '../rate.ts'
import type { RefusalCode } from '../refusal.ts'
import type { TokenView } from '../token/state.ts'
import type { KeyUse } from './commands.ts'
import type { AccountData, AccountKey, AccountState, AccountStatus } from './state.ts'
import type { Failure, Transaction } from './transaction.ts'

/** An idempotent operation that is no transaction: its whole original reply is stored. `keyId`: the accepting key. */
export type RecordedOperation = {
  readonly accountId: string
  readonly idempotencyKey: string
  readonly payloadHash: string
  readonly keyId: string
  readonly atMs: number
} & RecordedAnswer

export type RecordedAnswer =
  | { readonly operation: 'registration' | 'key_rotation' | 'status_change'; readonly answer: AccountView }
  | { readonly operation: 'mint'; readonly answer: MintedNft }
  | { readonly operation: 'hold'; readonly answer: CreatedHold }
  /** An operation on the source ledger. */
  | { readonly operation: 'elsewhere'; readonly answer: null }

/** `txnId`: the transaction that minted it. `payloadHash`: of the signed payload. */
export interface MintedNft {
  readonly instance: InstanceView
  readonly txnId: string
  readonly payloadHash: string
}

/** `payloadHash`: of the signed payload. */
export interface CreatedHold {
  readonly hold: HoldView
  readonly payloadHash: string
}

/** The facts that a step adds to the account's next state. */
export type Effect =
  | { readonly kind: 'entry_appended'; readonly entry: AuditEntry }
  /** New: pending or final. */
  | { readonly kind: 'transaction_entered'; readonly transaction: Transaction }
  /** A pending transaction is final. */
  | { readonly kind: 'transaction_finished'; readonly transaction: Transaction }
  | { readonly kind: 'transaction_compensated'; readonly txnId: string; readonly by: string }
  /** `refunded`: the sum of its completed refunds. */
  | { readonly kind: 'transaction_refunded'; readonly txnId: string; readonly refunded: string }
  | { readonly kind: 'balance_changed'; readonly tokenId: string }
  | { readonly kind: 'hold_changed'; readonly holdId: string }
  /** Data sealed by the account's data key must not be readable again, including the additions of this step. */
  | { readonly kind: 'account_erased' }
  /** Value came in from an external account (positive) or left to one. */
  | { readonly kind: 'boundary_crossed'; readonly tokenId: string; readonly quantity: Quantity }
  | { readonly kind: 'message_sent'; readonly envelope: Envelope }
  /** A `deferred` command is decided: the caller, found by the actor or by a key's use, gets the reply. */
  | { readonly kind: 'concluded'; readonly answer: Answer; readonly use?: KeyUse }
  | { readonly kind: 'nft_event'; readonly nftId: string; readonly event: NftEvent }
  | { readonly kind: 'key_registered'; readonly key: AccountKey; readonly fromSequence: number; readonly atMs: number }
  | {
      readonly kind: 'operation_recorded'
      readonly operation: RecordedOperation
      readonly acceptedUnder: AccountKey | null
    }

export function sent(to: ActorAddress, message: Message, carries: readonly CarriedValue[] = []): Effect {
  return { kind: 'message_sent', envelope: { to, message, carries } }
}

/** Content of the 202; a replay returns the same bytes. */
export interface SubmissionReceipt {
  readonly txnId: string
  readonly accountId: string
  readonly shardId: number
  readonly enqueuedAtMs: number
  readonly groupId: string | null
}

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

/** An account's actor as administrators see it. */
export interface AccountActorView {
  readonly accountId: string
  readonly shardId: number
  /** The state of its machine. */
  readonly state: AccountStatus
  readonly paused: boolean
  /** Number of writes of the account's row. */
  readonly version: number
  /** Number of its holds. */
  readonly holds: number
  /** Number of transactions among them that other actors decide. */
  readonly pending: number
  /** Whether the actor was in its node's memory before the request. */
  readonly resident: boolean
  /** Number of commands waiting for the actor. */
  readonly mailbox: number
}

/** The effect that a submission would have now. */
export interface DryRunResult {
  /** `pending`: accepted here, and other actors would decide. */
  readonly outcome: 'completed' | 'failed' | 'pending'
  readonly failure: Failure | null
  /** Of the asset that it gives, as decimal strings; null for an NFT. */
  readonly balanceAfter: string | null
  readonly availableAfter: string | null
  /** Actors that would still decide. */
  readonly decidedBy: readonly ActorAddress[]
}

export function viewOf(account: AccountState): AccountView {
  return viewAs(account, account.status)
}

export function viewAs(account: AccountData, status: AccountStatus): AccountView {
  return {
    accountId: account.accountId,
    status,
    incoming: account.incoming,
    key: account.key,
    shardId: account.shardId,
    sequence: account.sequence,
    auditHash: account.tip,
    createdAtMs: account.createdAtMs,
    updatedAtMs: account.updatedAtMs,
  }
}

/** `replayed`: an earlier request got this reply; `mismatch`: that request's payload differs. */
export interface Repeatable {
  readonly replayed: boolean
  readonly mismatch: boolean
}

/** The reply to the first request under a key. */
export const FIRST: Repeatable = { replayed: false, mismatch: false }

export type Answer =
  | (Repeatable & { readonly kind: 'accepted'; readonly receipt: SubmissionReceipt })
  | (Repeatable & { readonly kind: 'registered'; readonly account: AccountView; readonly created: boolean })
  | (Repeatable & { readonly kind: 'rotated'; readonly account: AccountView })
  | { readonly kind: 'status_changed'; readonly account: AccountView }
  | (Repeatable & { readonly kind: 'token_registered'; readonly token: TokenView })
  /** `created`: the client registered it with this request. */
  | (Repeatable & { readonly kind: 'group_registered'; readonly group: GroupView; readonly created: boolean })
  | { readonly kind: 'group_reverting'; readonly group: GroupView }
  | { readonly kind: 'legs_declined'; readonly groupId: string }
  | { readonly kind: 'actor_shown'; readonly actor: AccountActorView }
  | { readonly kind: 'dry_run'; readonly result: DryRunResult }
  | (Repeatable & { readonly kind: 'class_registered'; readonly nftClass: ClassView })
  | { readonly kind: 'arrival'; readonly state: ArrivalState }
  /** `account`: after the command. */
  | { readonly kind: 'departed'; readonly account: AccountView }
  | (Repeatable & MintedNft & { readonly kind: 'minted' })
  | (Repeatable & CreatedHold & { readonly kind: 'hold_created' })
  | { readonly kind: 'hold_released'; readonly hold: HoldView }
  /** `keyId`: the key expected to sign, where the signature is the cause. */
  | {
      readonly kind: 'refused'
      readonly code: RefusalCode
      readonly detail: string
      readonly field: string | null
      readonly keyId?: string
      /** Of an order beyond its account's rate. */
      readonly limit?: Rate & { readonly retryAfterMs: number }
    }

/** The original reply of a recorded operation. */
export function originalAnswer(recorded: RecordedAnswer): Answer {
  switch (recorded.operation) {
    case 'registration':
      return { kind: 'registered', account: recorded.answer, created: true, ...FIRST }
    case 'key_rotation':
      return { kind: 'rotated', account: recorded.answer, ...FIRST }
    case 'status_change':
      return { kind: 'status_changed', account: recorded.answer }
    case 'mint':
      return { kind: 'minted', ...recorded.answer, ...FIRST }
    case 'hold':
      return { kind: 'hold_created', ...recorded.answer, ...FIRST }
    case 'elsewhere':
      return refusal('key_used_elsewhere', 'The key was used on the ledger that the account came from.')
  }
}

export function refusal(
  code: RefusalCode,
  detail: string,
  field: string | null = null,
  keyId?: string,
): Extract<Answer, { readonly kind: 'refused' }> {
  return { kind: 'refused', code, detail, field, ...(keyId === undefined ? {} : { keyId }) }
}

/** The earlier use of an idempotency key, from memory or from the ledger. */
export interface EarlierUse {
  readonly payloadHash: string
  /** The key that accepted the original: it may also sign a repeat. */
  readonly key: AccountKey
  readonly answer: Answer
}
