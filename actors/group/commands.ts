/** Commands of a settlement group. */
import type { CommandBase } from '../account/commands.ts'
import type { DueCommand } from '../define-actor.ts'
import type { GroupMessage, Stamp } from '../message.ts'
import type { Terms } from './terms.ts'

export interface RegisterGroupCommand extends CommandBase {
  readonly type: 'register_group'
  readonly groupId: string
  readonly terms: Terms
  /** Idempotency key of the registration; it begins with `request` unless the client gave one. */
  readonly registrationKey: string
}

export interface RevertGroupCommand extends CommandBase {
  readonly type: 'revert_group'
  readonly groupId: string
  readonly reason: string
  /** Transactions of a linked group to compensate. */
  readonly transactions: readonly { readonly txnId: string; readonly accountId: string }[]
}

export type GroupCommand = RegisterGroupCommand | RevertGroupCommand | (GroupMessage & Stamp) | DueCommand
export type GroupCommandOf<Type extends GroupCommand['type']> = Extract<GroupCommand, { readonly type: Type }>
