/**
 * Commands of an account. Time, IDs and salt are set when a command enters the mailbox: a repeated step sees the same.
 */
import type { ArrivalCommand, ArrivingAccount } from '../arrival.ts'
import { sha256Hex } from '../audit-chain.ts'
import type { JsonObject } from '../canonical-json.ts'
import type { AccountMessage, ExchangeSide, Stamp } from '../message.ts'
import type { AccountKey, IncomingPolicy, WishedStatus } from './state.ts'

export const TRANSACTION_TYPES = ['debit', 'credit', 'transfer', 'exchange', 'mint', 'burn'] as const
export type TransactionType = (typeof TRANSACTION_TYPES)[number]

/** D5: an account that sends an asset and credits it under one group ID would get receipts though no value moved. */
export function isSelfTransfer(one: TransactionType, other: TransactionType): boolean {
  const sends = one === 'credit' ? other : other === 'credit' ? one : undefined
  return sends === 'transfer' || sends === 'exchange'
}

export function withArticle(type: TransactionType): string {
  return type === 'exchange' ? `an ${type}` : `a ${type}`
}

export const ROLES = ['viewer', 'transactor', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** The authenticated caller. `boundary`: true, or the tokens that it may bring in from external accounts. */
export interface Caller {
  readonly clientId: string
  readonly role: Role
  readonly boundary: boolean | readonly string[]
}

/** The fields of a signed submission, read from its canonical payload. */
export interface Submission {
  readonly accountId: string
  readonly type: TransactionType
  /** The amount as signed. */
  readonly amount: string
  /** `BASE`, a token, or an NFT as `class/instance`. */
  readonly tokenId: string
  /** Lower case. */
  readonly groupId: string | null
  readonly idempotencyKey: string
  readonly toAccountId: string | null
  /** The asset and amount that an exchange receives. */
  readonly receive: ExchangeSide | null
  readonly metadata: JsonObject | null
  /** Hash of the group's terms, 64 hexadecimal digits: present exactly on a leg of a registered group. */
  readonly termsHash: string | null
  readonly ledgerId: string | null
  readonly expiresAtMs: number | null
  /** The transfer that this one refunds: its ID, or the ID of the account's credit. */
  readonly refunds: string | null
  /** Of a capture; absent for all others. */
  readonly capture?: CaptureOrder
}

/**
 * A capture (D25). The account signs the hold and `final`. The edge names the payer, and the asset of the submission:
 * the hold refuses a capture that names them wrongly.
 */
export interface CaptureOrder {
  readonly holdId: string
  /** Releases what remains. */
  readonly final: boolean
  readonly fromAccountId: string
}

/** A command of a client. */
export interface CommandBase extends Stamp {
  readonly caller: Caller
}

/** A command that the account's key signed: `payload` is the canonical JSON that the signature is over. */
interface SignedCommandBase extends CommandBase {
  readonly payload: string
  readonly payloadHash: string
  readonly signature: string
  readonly idempotencyKey: string
}

export interface RegisterCommand extends CommandBase {
  readonly type: 'register'
  readonly accountId: string
  readonly shardId: number
  readonly key: AccountKey
  /** The header `Idempotency-Key`, if there was one. */
  readonly registrationKey: string | null
}

/** `dry_run`: the reply is the effect that `submit` would have now. It changes nothing and uses no idempotency key (D24). */
export interface SubmitCommand extends SignedCommandBase {
  readonly type: 'submit' | 'dry_run'
  readonly submission: Submission
}

export interface RotateKeyCommand extends SignedCommandBase {
  readonly type: 'rotate_key'
  readonly accountId: string
  readonly newKey: AccountKey
  /** The ledger that the command names. */
  readonly ledgerId: string | null
  /** The new key's signature of the payload; null without one. */
  readonly proof: string | null
}

export interface MintCommand extends SignedCommandBase {
  readonly type: 'mint'
  /** The issuer of the class, who signs. */
  readonly accountId: string
  readonly classId: string
  readonly instanceId: string
  readonly owner: string
  readonly metadata: JsonObject
  /** Whether the metadata satisfies the class's schema; `unchecked`: the edge has not validated it. */
  readonly metadataVerdict: MetadataVerdict
  readonly ledgerId: string | null
}

export interface CreateHoldCommand extends SignedCommandBase {
  readonly type: 'create_hold'
  /** The payer, who signs. */
  readonly accountId: string
  readonly toAccountId: string
  readonly tokenId: string
  readonly amount: string
  readonly expiresAtMs: number
  readonly metadata: JsonObject | null
  readonly ledgerId: string | null
}

/** The beneficiary releases a hold. Idempotent: a hold ends once. */
export interface ReleaseHoldCommand extends CommandBase {
  readonly type: 'release_hold'
  /** The beneficiary, who signs. */
  readonly accountId: string
  readonly holdId: string
  readonly ledgerId: string | null
  readonly signature: string
  readonly payload: string
}

/** The account declines its unsigned legs of a settlement group. */
export interface DeclineCommand extends CommandBase {
  readonly type: 'decline_legs'
  readonly accountId: string
  /** Lower case. */
  readonly groupId: string
  /** Hash of the declined terms, 64 hexadecimal digits: binds the signature to this group, not only to its ID. */
  readonly termsHash: string
  readonly ledgerId: string | null
  readonly signature: string
  readonly payload: string
}

export const METADATA_VERDICTS = ['valid', 'invalid', 'unchecked'] as const
export type MetadataVerdict = (typeof METADATA_VERDICTS)[number]

export interface ChangeStatusCommand extends CommandBase {
  readonly type: 'change_status'
  readonly accountId: string
  readonly status: WishedStatus | null
  readonly incoming: IncomingPolicy | null
  readonly reason: string
  /** The header `Idempotency-Key`, if there was one. */
  readonly registrationKey: string | null
}

/** Makes the ledger's data about a closed account unreadable. */
export interface EraseCommand extends CommandBase {
  readonly type: 'erase'
  readonly accountId: string
  readonly reason: string
}

/** Stops or resumes the account's outgoing transactions; pending ones end as usual. */
export interface PauseCommand extends CommandBase {
  readonly type: 'pause' | 'resume'
  readonly accountId: string
  readonly reason: string
}

/** Shows the actor; changes nothing. */
export interface ShowActorCommand extends CommandBase {
  readonly type: 'show_actor'
  readonly accountId: string
}

/** `arrival` null: the account is only created, as an issuer. */
export type AccountArrivalCommand = ArrivalCommand<ArrivingAccount | null> & {
  readonly accountId: string
  readonly shardId: number
}

/** Hashes (`usedKeyHash`) of keys that a staged account used on its source ledger. */
export interface NoteUsedKeysCommand extends CommandBase {
  readonly type: 'note_used_keys'
  readonly accountId: string
  readonly importId: string
  /** Consecutive, from 0. */
  readonly part: number
  readonly hashes: readonly string[]
}

/** Moves a frozen account to another ledger: one token's balance, or with null the empty account, which closes. */
export interface DepartCommand extends CommandBase {
  readonly type: 'depart'
  readonly accountId: string
  /** The target ledger. */
  readonly audience: string
  readonly tokenId: string | null
}

/** Commands that move accounts between ledgers. */
export type PortageCommand = AccountArrivalCommand | NoteUsedKeysCommand | DepartCommand

/** A message from another actor, stamped on entry into the mailbox. */
export type AccountMessageCommand = AccountMessage & Stamp & { readonly accountId: string; readonly shardId: number }

export type AccountClientCommand =
  | RegisterCommand
  | SubmitCommand
  | RotateKeyCommand
  | MintCommand
  | CreateHoldCommand
  | ReleaseHoldCommand
  | DeclineCommand
  | ChangeStatusCommand
  | EraseCommand
  | PauseCommand
  | ShowActorCommand
  | PortageCommand
export type AccountCommand = AccountClientCommand | AccountMessageCommand
export type AccountCommandOf<Type extends AccountCommand['type']> = Extract<AccountCommand, { readonly type: Type }>

/**
 * The operations that scope an idempotency key. `elsewhere`: used on the source ledger, stored as a `usedKeyHash`.
 * `hold_release`: the hold's ID is the key; its uses are not stored.
 */
export type KeyedOperation =
  | 'transaction'
  | 'key_rotation'
  | 'registration'
  | 'status_change'
  | 'mint'
  | 'hold'
  | 'hold_release'
  | 'elsewhere'

export interface KeyUse {
  readonly operation: KeyedOperation
  readonly idempotencyKey: string
}

export function accountOf(command: AccountCommand): string {
  return 'submission' in command ? command.submission.accountId : command.accountId
}

/** The command's idempotency key; a registration's or status change's key is the client's, from a header. */
export function keyUseOf(command: AccountCommand): KeyUse | undefined {
  switch (command.type) {
    case 'submit':
      return { operation: 'transaction', idempotencyKey: command.idempotencyKey }
    case 'rotate_key':
      return { operation: 'key_rotation', idempotencyKey: command.idempotencyKey }
    case 'mint':
      return { operation: 'mint', idempotencyKey: command.idempotencyKey }
    case 'create_hold':
      return { operation: 'hold', idempotencyKey: command.idempotencyKey }
    case 'release_hold':
      return { operation: 'hold_release', idempotencyKey: command.holdId }
    case 'register':
      return headerKeyUse('registration', command)
    case 'change_status':
      return headerKeyUse('status_change', command)
    default:
      return undefined
  }
}

function headerKeyUse(
  operation: 'registration' | 'status_change',
  { registrationKey, caller }: RegisterCommand | ChangeStatusCommand,
): KeyUse | undefined {
  if (registrationKey === null) return undefined
  return { operation, idempotencyKey: `${caller.clientId} ${registrationKey}` }
}

/** Tells a replay from a payload mismatch; meaningless for a command without a key. */
export function payloadHashOf(command: AccountClientCommand): string {
  if ('payloadHash' in command) return command.payloadHash
  if (command.type === 'register') return sha256Hex(command.key.publicKey)
  return 'reason' in command ? sha256Hex(command.reason) : ''
}
