/** The original answer to a command whose idempotency key was used before, whatever has become of the account since. */
import {
  type ChangeStatusCommand,
  type MintCommand,
  payloadHashOf,
  type RegisterCommand,
  type RotateKeyCommand,
  type SubmitCommand,
} from './commands.ts'
import type { Answer, EarlierUse } from './outcome.ts'

export type KeyedCommand = RegisterCommand | SubmitCommand | RotateKeyCommand | MintCommand | ChangeStatusCommand

/**
 * The same command, stepped again after its commit's outcome was unknown, is no replay to its client. Its time tells it from
 * others, and so does its payload: the clock of a shard may stand still for a while.
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
    default:
      return answer
  }
}
