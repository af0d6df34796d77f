import { type Clock, type Timer } from '../../runtime/ports/clock.ts'

/** The machine's clocks and the event loop's timers. */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after: (delayMs, run): Timer => {
      const timer = setTimeout(run, Math.max(0, delayMs))
      return { cancel: () => clearTimeout(timer) }
    },
  }
}
