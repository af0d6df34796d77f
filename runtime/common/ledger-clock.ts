/**
 * The store's time, extrapolated by this process's monotonic clock between probes. Nodes thus agree on expiry, and a
 * wrong wall clock decides nothing.
 *   T1. The store's time is between the probe's reply and that plus the round trip. An offset outside is moved to the
 *       bound.
 *   T2. Before the first reply it is the wall clock; nothing is served before that.
 *   T3. If the store's clock jumps and this machine's does not, the jump is ignored, because what has expired stays
 *       expired. Time goes on as before until the two agree again.
 */
import type { Clock, Timer } from '../ports/clock.ts'

/** Correct clocks, and a slightly wrong monotonic clock between failed probes, differ by less. */
const LARGEST_STEP_MS = 5_000

export interface LedgerClock extends Clock {
  /**
   * The store read `storeMs` (since 1970) between two moments of the monotonic clock. Returns false if ignored (T3).
   */
  readonly observe: (storeMs: number, askedMs: number, answeredMs: number) => boolean
  /** Absolute offset of this machine's wall clock from that time, milliseconds; null before the first reply. */
  readonly skewMs: () => number | null
}

export function createLedgerClock(clock: Clock): LedgerClock {
  /** Offset from the monotonic clock. */
  let offsetMs: number | undefined
  const now = (): number => (offsetMs === undefined ? clock.now() : Math.floor(clock.monotonic() + offsetMs))
  return {
    monotonic: clock.monotonic,
    after: clock.after,
    now,
    skewMs: () => (offsetMs === undefined ? null : Math.abs(clock.now() - now())),
    observe: (storeMs, askedMs, answeredMs) => {
      const least = storeMs - answeredMs
      const most = storeMs - askedMs
      if (offsetMs === undefined) {
        offsetMs = (least + most) / 2
        return true
      }
      const agreed = Math.min(Math.max(offsetMs, least), most)
      const wallOffsetMs = clock.now() - clock.monotonic()
      const jumps = Math.abs(agreed - offsetMs) > LARGEST_STEP_MS
      if (jumps && Math.abs(wallOffsetMs - offsetMs) <= LARGEST_STEP_MS) return false
      offsetMs = agreed
      return true
    },
  }
}

const ASKED_EVERY_MS = 2_000

export interface StoreTimeFollowing {
  /** Resolves once the first query has succeeded or failed. */
  readonly begun: Promise<void>
  readonly stop: () => void
}

/** Probes the store's time now and every two seconds; the next probe follows a failed one likewise. */
export function followStoreTime(clock: LedgerClock, readStoreMs: () => Promise<number>): StoreTimeFollowing {
  let timer: Timer | undefined
  let stopped = false
  const ask = async (): Promise<void> => {
    const askedMs = clock.monotonic()
    const storeMs = await readStoreMs().catch(() => undefined)
    if (stopped) return
    if (storeMs !== undefined) clock.observe(storeMs, askedMs, clock.monotonic())
    timer = clock.after(ASKED_EVERY_MS, () => void ask())
  }
  return {
    begun: ask(),
    stop: () => {
      stopped = true
      timer?.cancel()
    },
  }
}
