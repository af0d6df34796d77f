import { type Clock, type Timer } from '../../runtime/ports/clock.ts'

/** The machine's clocks and the event loop's timers. */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after: (delayMs, run): Timer => {
      // A timer takes at least a millisecond. This runs after the events that have already arrived.
      if (delayMs <= 0) {
        const immediate = setImmediate(run)
        return { cancel: () => clearImmediate(immediate) }
      }
      const timer = setTimeout(run, delayMs)
      return { cancel: () => clearTimeout(timer) }
    },
  }
}
