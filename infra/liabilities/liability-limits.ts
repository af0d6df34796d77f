/** The size of ledger that a proof of liabilities covers. */
import type { ExceededLimit } from '../../runtime/ports/assertion-source.ts'

/**
 * A processor with no other work reads a million balances within `SNAPSHOT_TIMEOUT_MS`, encryption included: a whole run over
 * a million takes 39 s of processor time (`test/bench/README.md`). On a busy machine the time limit may come first.
 */
export const BALANCES_PER_READER = 1_000_000
/** A snapshot that is open for longer keeps PostgreSQL from removing old row versions. */
export const SNAPSHOT_TIMEOUT_MS = 58_000

export class LimitExceeded extends Error {
  override readonly name = 'LimitExceeded'
  readonly limit: ExceededLimit

  constructor(limit: ExceededLimit, options?: ErrorOptions) {
    super(`a proof of liabilities exceeds its limit: ${limit.kind}`, options)
    this.limit = limit
  }
}
