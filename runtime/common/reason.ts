/**
 * What a log may have of an error. Messages of the language, of libraries and of drivers quote what they could not take,
 * which may be an account ID or an amount; those of the ledger's own errors do not.
 */
import { BrokenInvariant } from '../../actors/result.ts'
import { LeaseStoreUnavailable } from '../ports/lease-store.ts'
import { LedgerStoreUnavailable } from '../ports/ledger-store.ts'

/** An error whose message was written for logs: it quotes nothing that a client sent or that an account holds. */
export abstract class ToldError extends Error {}

const MAX_FRAMES = 8

/** Its message where that is of our own words; else what kind of error it is, and where it was thrown. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const ours =
    error instanceof ToldError ||
    error instanceof BrokenInvariant ||
    error instanceof LedgerStoreUnavailable ||
    error instanceof LeaseStoreUnavailable
  return ours ? error.message : [error.name, ...framesOf(error)].join(' ')
}

/** A message of many lines may look like frames: it is taken away whole, and without it there are none. */
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
