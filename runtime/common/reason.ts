/**
 * Text of an error for the log. Messages of the language, of libraries and of drivers quote rejected input, which may
 * contain an account ID or an amount; messages of the ledger's own errors do not.
 */
import { BrokenInvariant } from '../../actors/result.ts'
import { LeaseStoreUnavailable } from '../ports/lease-store.ts'
import { LedgerStoreUnavailable } from '../ports/ledger-store.ts'
import { SignerUnavailable } from '../ports/signer.ts'

/** An error whose message was written for logs: it quotes nothing that a client sent or that an account holds. */
export abstract class LoggableError extends Error {}

const MAX_FRAMES = 8

/** The message of the ledger's own errors; of others the kind and the place of throwing. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const ours =
    error instanceof LoggableError ||
    error instanceof BrokenInvariant ||
    error instanceof LedgerStoreUnavailable ||
    error instanceof LeaseStoreUnavailable ||
    error instanceof SignerUnavailable
  return ours ? error.message : [error.name, ...framesOf(error)].join(' ')
}

/** Lines of a message may look like frames: the message is removed first; if it is not found, there are no frames. */
function framesOf({ stack = '', message }: Error): readonly string[] {
  const start = stack.indexOf(message)
  if (start < 0) return []
  return stack
    .slice(start + message.length)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '))
    .slice(0, MAX_FRAMES)
}
