/** A clock that moves only in `advance`, for code that crosses the thread pool before it sets its timers. */
import { expect, vi } from 'vitest'
import type { Clock } from '../../../../runtime/ports/clock.ts'

export interface ManualClock extends Clock {
  /** Moves the time and runs the due timers in order. */
  readonly advance: (ms: number) => Promise<void>
  readonly pending: () => number
  /** Resolves once this many timers are set. */
  readonly timersSet: (count: number) => Promise<void>
}

export function createManualClock(startMs: number): ManualClock {
  let elapsedMs = 0
  const timers = new Set<{ dueMs: number; run: () => void }>()
  return {
    now: () => startMs + elapsedMs,
    monotonic: () => elapsedMs,
    after(delayMs, run) {
      const timer = { dueMs: elapsedMs + delayMs, run }
      timers.add(timer)
      return { cancel: () => void timers.delete(timer) }
    },
    async advance(ms) {
      const target = elapsedMs + ms
      for (;;) {
        await settle()
        const [next] = [...timers].filter((timer) => timer.dueMs <= target).sort((a, b) => a.dueMs - b.dueMs)
        if (next === undefined) break
        timers.delete(next)
        elapsedMs = Math.max(elapsedMs, next.dueMs)
        next.run()
      }
      elapsedMs = target
      await settle()
    },
    pending: () => timers.size,
    timersSet: (count) => vi.waitFor(() => expect(timers.size).toBe(count), { timeout: 10_000, interval: 1 }),
  }
}

/** Runs pending microtasks and immediates. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise<void>((resolve) => void setImmediate(resolve))
}
