/** A clock that stands still until it is told to go on; callbacks run in the order of their times. */
import type { Clock, Timer } from '../../runtime/ports/clock.ts'

export interface ManualClock extends Clock {
  /** Lets so many milliseconds pass, with every callback and its microtasks in between. */
  readonly pass: (ms: number) => Promise<void>
}

export function createManualClock(startMs: number): ManualClock {
  let elapsedMs = 0
  let serial = 0
  const timers = new Map<number, { readonly dueMs: number; readonly run: () => void }>()

  /** By the time a macrotask runs, every microtask has. */
  function settleMicrotasks(): Promise<void> {
    return new Promise((resolve) => {
      setImmediate(resolve)
    })
  }

  function nextDue(untilMs: number): number | undefined {
    let best: { id: number; dueMs: number } | undefined
    for (const [id, { dueMs }] of timers) {
      if (dueMs <= untilMs && (best === undefined || dueMs < best.dueMs)) best = { id, dueMs }
    }
    return best?.id
  }

  return {
    now: () => startMs + elapsedMs,
    monotonic: () => elapsedMs,
    after: (delayMs, run): Timer => {
      serial += 1
      const id = serial
      timers.set(id, { dueMs: elapsedMs + delayMs, run })
      return { cancel: () => timers.delete(id) }
    },
    pass: async (ms) => {
      const untilMs = elapsedMs + ms
      await settleMicrotasks()
      for (let id = nextDue(untilMs); id !== undefined; id = nextDue(untilMs)) {
        const timer = timers.get(id)
        timers.delete(id)
        elapsedMs = Math.max(elapsedMs, timer?.dueMs ?? elapsedMs)
        timer?.run()
        await settleMicrotasks()
      }
      elapsedMs = untilMs
    },
  }
}
