/** Failures as this folder reports them: a code, with the driver's error as a cause for the log only. */
import { LedgerStoreUnavailable } from '../../../runtime/ports/ledger-store.ts'

export function unavailable(cause: unknown): LedgerStoreUnavailable {
  return cause instanceof LedgerStoreUnavailable
    ? cause
    : new LedgerStoreUnavailable(`PostgreSQL failed: ${codeOf(cause)}`, { cause })
}

/** The driver's and the network's errors carry a code; what they say besides may name hosts. */
export function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  return error instanceof Error ? error.name : 'an error'
}
