/**
 * The clock of an edge, which follows PostgreSQL's time. A wall clock that is far off is still a fault of the machine, because
 * it misdates the log and misleads other programs.
 */
import { createLedgerClock, followStoreTime } from '../../runtime/common/ledger-clock.ts'
import type { Clock } from '../../runtime/ports/clock.ts'
import type { Log } from '../../runtime/ports/log.ts'

export interface EdgeClock {
  readonly clock: Clock
  /** True if PostgreSQL's time is known and the wall clock is within the bound. */
  readonly isTrusted: () => boolean
  readonly stop: () => void
}

export const MAX_CLOCK_SKEW_MS = 2_000

/** Resolves after the first query for PostgreSQL's time, even a failed one. */
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
