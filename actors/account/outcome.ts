/** Results of a step: replies to the caller, refusals, and the effects that are committed with them. */
import type { ActorAddress } from '../address.ts'
import type { ArrivalState } from '../arrival.ts'
import type { AuditEntry } from '../audit-chain.ts'
import type { GroupView } from '../group/state.ts'
import type { Carried, Envelope, Message } from '../message.ts'
import type { Quantity } from '../money.ts'
import type { ClassView } from '../nft-class/state.ts'
import type { InstanceView, NftEvent } from '../nft-instance/state.ts'
import type { RefusalCode } from '../refusal.ts'
import type { TokenView } from '../token/state.ts'
import type { KeyUse } from './commands.ts'
import type { AccountData, AccountKey, AccountState, AccountStatus } from './state.ts'
import type { Transaction } from './transaction.ts'

/** An idempotent operation that is no transaction: its original answer is kept whole. `keyId`: the key it was accepted under. */
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
  /** It was answered on another ledger. */
  | { readonly operation: 'elsewhere'; readonly answer: null }

/** `txnId`: the transaction that minted it. `payloadHash`: of what was signed. */
export interface MintedNft {
  readonly instance: InstanceView
  readonly txnId: string
  readonly payloadHash: string
}

/** The facts a step adds, besides the account's next state. */
export type Effect =
  | { readonly kind: 'entry_appended'; readonly entry: AuditEntry }
  /** New: pending, or final at once. */
  | { readonly kind: 'transaction_entered'; readonly transaction: Transaction }
  /** One that was pending is final. */
  | { readonly kind: 'transaction_finished'; readonly transaction: Transaction }
  | { readonly kind: 'transaction_compensated'; readonly txnId: string; readonly by: string }
  | { readonly kind: 'balance_changed'; readonly tokenId: string }
  | { readonly kind: 'hold_changed'; readonly holdId: string }
  /** Nothing sealed by the account's data key may be read again, including the additions of this step. */
  | { readonly kind: 'account_erased' }
  /** Value came in from outside the ledger (positive) or left it. */
  | { readonly kind: 'boundary_crossed'; readonly tokenId: string; readonly quantity: Quantity }
  | { readonly kind: 'message_sent'; readonly envelope: Envelope }
  /** A `deferred` command is decided: the reply goes to its caller, found by the actor or by the use of a key. */
  | { readonly kind: 'concluded'; readonly answer: Answer; readonly use?: KeyUse }
  | { readonly kind: 'nft_event'; readonly nftId: string; readonly event: NftEvent }
  | { readonly kind: 'key_registered'; readonly key: AccountKey; readonly fromSequence: number; readonly atMs: number }
  | {
      readonly kind: 'operation_recorded'
      readonly operation: RecordedOperation
      readonly acceptedUnder: AccountKey | null
    }

export function sent(to: ActorAddress, message: Message, carries: readonly Carried[] = []): Effect {
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

/** An account's actor as administrators see it. */
export interface AccountActorView {
  readonly accountId: string
  readonly shardId: number
  /** The state of its machine. */
  readonly state: AccountStatus
  readonly paused: boolean
  /** How often its row was written. */
  readonly version: number
  /** Number of its holds. */
  readonly holds: number
  /** Transactions among them that others decide on. */
  readonly pending: number
  /** Whether it was in its node's memory when it was asked for. */
  readonly resident: boolean
  /** Commands that waited for it. */
  readonly mailbox: number
}

export function viewOf(account: AccountState): AccountView {
  return viewAs(account, account.status)
}

/** As it is shown with this status. */
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

/** `replayed`: the answer is the one that an earlier request got; `mismatch`: and this request's payload was another. */
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
  /** `created`: it is new to its client. */
  | (Repeatable & { readonly kind: 'group_registered'; readonly group: GroupView; readonly created: boolean })
  | { readonly kind: 'group_reverting'; readonly group: GroupView }
  | { readonly kind: 'legs_declined'; readonly groupId: string }
  | { readonly kind: 'actor_shown'; readonly actor: AccountActorView }
  | (Repeatable & { readonly kind: 'class_registered'; readonly nftClass: ClassView })
  | { readonly kind: 'arrival'; readonly state: ArrivalState }
  /** `account`: as it is afterwards. */
  | { readonly kind: 'departed'; readonly account: AccountView }
  | (Repeatable & MintedNft & { readonly kind: 'minted' })
  /** `keyId`: the key expected to sign, if the signature is the cause. */
  | {
      readonly kind: 'refused'
      readonly code: RefusalCode
      readonly detail: string
      readonly field: string | null
      readonly keyId?: string
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
    case 'elsewhere':
      return refusal('key_used_elsewhere', 'The key was used on the ledger that the account came from.')
  }
}

export function refusal(code: RefusalCode, detail: string, field: string | null = null, keyId?: string): Answer {
  return { kind: 'refused', code, detail, field, ...(keyId === undefined ? {} : { keyId }) }
}

/** The earlier use of an idempotency key, from memory or from the ledger. */
export interface EarlierUse {
  readonly payloadHash: string
  /** The key that the original was accepted under: a repeat may be signed by it. */
  readonly key: AccountKey
  readonly answer: Answer
}
