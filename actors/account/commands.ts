/**
 * What an account can be asked. Every command carries its time, ids and salt, given as it entered the mailbox:
 * stepped again, it carries the same.
 */
import { sha256Hex } from '../audit-chain.ts'
import type { JsonObject } from '../canonical-json.ts'
import type { AccountKey, AccountStatus, IncomingPolicy } from './state.ts'

export const TRANSACTION_TYPES = ['debit', 'credit', 'transfer', 'exchange', 'mint', 'burn'] as const
export type TransactionType = (typeof TRANSACTION_TYPES)[number]

export const ROLES = ['viewer', 'transactor', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** Who asks, as the edge authenticated it. `boundary`: true, or the tokens that it may bring in from outside. */
export interface Caller {
  readonly clientId: string
  readonly role: Role
  readonly boundary: boolean | readonly string[]
}

/** The fields of a signed submission, read from its canonical payload. */
export interface Submission {
  readonly accountId: string
  readonly type: TransactionType
  /** As it was signed. */
  readonly amount: string
  readonly tokenId: string
  /** Lower case. */
  readonly groupId: string | null
  readonly idempotencyKey: string
  readonly metadata: JsonObject | null
  readonly termsHash: string | null
  readonly classId: string | null
  readonly ledgerId: string | null
  readonly expiresAtMs: number | null
}

interface CommandBase {
  /** Wall clock of the owner as the command entered the mailbox, milliseconds since 1970. */
  readonly atMs: number
  /** 32 hexadecimal digits. */
  readonly salt: string
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

export interface SubmitCommand extends SignedCommandBase {
  readonly type: 'submit'
  readonly txnId: string
  readonly submission: Submission
}

export interface RotateKeyCommand extends SignedCommandBase {
  readonly type: 'rotate_key'
  readonly accountId: string
  readonly newKey: AccountKey
  /** Whether the new key signed the payload too; null when there was no proof. */
  readonly proof: string | null
}

export interface ChangeStatusCommand extends CommandBase {
  readonly type: 'change_status'
  readonly accountId: string
  readonly status: AccountStatus | null
  readonly incoming: IncomingPolicy | null
  readonly reason: string
}

export type AccountCommand = RegisterCommand | SubmitCommand | RotateKeyCommand | ChangeStatusCommand

/** The operations that an idempotency key is scoped to, beside the account. */
export type KeyedOperation = 'transaction' | 'key_rotation' | 'registration'

export interface KeyUse {
  readonly operation: KeyedOperation
  readonly idempotencyKey: string
}

export function accountOf(command: AccountCommand): string {
  return command.type === 'submit' ? command.submission.accountId : command.accountId
}

/** The idempotency key that a command carries; a registration's is the client's own, from a header. */
export function keyUseOf(command: AccountCommand): KeyUse | undefined {
  switch (command.type) {
    case 'submit':
      return { operation: 'transaction', idempotencyKey: command.idempotencyKey }
    case 'rotate_key':
      return { operation: 'key_rotation', idempotencyKey: command.idempotencyKey }
    case 'register': {
      const { registrationKey, caller } = command
      if (registrationKey === null) return undefined
      return { operation: 'registration', idempotencyKey: `${caller.clientId} ${registrationKey}` }
    }
    case 'change_status':
      return undefined
  }
}

/** What tells a repeat from another request under the same key. */
export function payloadHashOf(command: AccountCommand): string {
  switch (command.type) {
    case 'submit':
    case 'rotate_key':
      return command.payloadHash
    case 'register':
      return sha256Hex(command.key.publicKey)
    case 'change_status':
      return sha256Hex(command.reason)
  }
}
