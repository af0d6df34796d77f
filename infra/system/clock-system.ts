import { type Clock, type Timer } from '../../runtime/ports/clock.ts'

/** The machine's clocks and the event loop's timers. */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after: (delayMs, run): Timer => {
      // A timer of no delay takes a millisecond; this runs as soon as what has arrived by now has been handled.
      if (delayMs <= 0) {
        const immediate = setImmediate(run)
        return { cancel: () => clearImmediate(immediate) }
      }
      const timer = setTimeout(run, delayMs)
      return { cancel: () => clearTimeout(timer) }
    },
  }
}
