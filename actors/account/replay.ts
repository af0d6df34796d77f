/** The original reply to a command whose idempotency key was used before, whatever the account's state now. */
import {
  type CreateHoldCommand,
  type ChangeStatusCommand,
  type MintCommand,
  payloadHashOf,
  type RegisterCommand,
  type RotateKeyCommand,
  type SubmitCommand,
} from './commands.ts'
import { holdIdOf } from '../identifiers.ts'
import type { Answer, EarlierUse } from './outcome.ts'

export type KeyedCommand =
  | RegisterCommand
  | SubmitCommand
  | RotateKeyCommand
  | MintCommand
  | CreateHoldCommand
  | ChangeStatusCommand

/**
 * A command stepped again after an unknown outcome is no replay to its client. Time and payload identify it; the time
 * alone does not, because a shard's clock may stand still.
 */
export function replayOf({ answer, payloadHash }: EarlierUse, command: KeyedCommand): Answer {
  const mismatch = payloadHash !== payloadHashOf(command)
  switch (answer.kind) {
    case 'accepted':
      return { ...answer, mismatch, replayed: command.type !== 'submit' || answer.receipt.txnId !== command.newTxnId }
    case 'registered':
      return { ...answer, mismatch, created: true, replayed: mismatch || answer.account.updatedAtMs !== command.atMs }
    case 'rotated':
      return { ...answer, mismatch, replayed: mismatch || answer.account.updatedAtMs !== command.atMs }
    case 'minted':
      return { ...answer, mismatch, replayed: answer.txnId !== command.newTxnId }
    case 'hold_created':
      return {
        ...answer,
        mismatch,
        replayed: command.type !== 'create_hold' || answer.hold.holdId !== holdIdOf(command.newTxnId),
      }
    default:
      return answer
  }
}
