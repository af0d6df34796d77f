/**
 * The clock of an edge: the ledger's time, and whether this machine's own clock agrees with it. An edge decides and writes
 * by the ledger's time. A wall clock that is far off is a fault of the machine: it also misdates the log and misleads other
 * programs.
 */
import { createLedgerClock, followStoreTime } from '../../runtime/common/ledger-clock.ts'
import type { Clock } from '../../runtime/ports/clock.ts'
import type { Log } from '../../runtime/ports/log.ts'

export interface EdgeClock {
  readonly clock: Clock
  /** Whether PostgreSQL's time is known, and the wall clock within the bound of it. */
  readonly isTrusted: () => boolean
  readonly stop: () => void
}

export const MAX_CLOCK_SKEW_MS = 2_000

/** Resolves once a query for PostgreSQL's time has succeeded or failed. */
export async function followEdgeClock(wall: Clock, readStoreMs: () => Promise<number>, log: Log): Promise<EdgeClock> {
  const clock = createLedgerClock(wall)
  const following = followStoreTime(clock, readStoreMs)
  await following.begun
  let trusted = true
  return {
    clock,
    isTrusted: () => {
      const skewMs = clock.skewMs()
      const now = skewMs !== null && skewMs <= MAX_CLOCK_SKEW_MS
      if (trusted && !now) log.error('clock_distrusted', { skew_ms: skewMs, bound_ms: MAX_CLOCK_SKEW_MS })
      if (!trusted && now) log.info('clock_trusted', { skew_ms: skewMs })
      trusted = now
      return now
    },
    stop: following.stop,
  }
}
