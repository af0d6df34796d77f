/**
 * The Clock of one incarnation: virtual time with the process's own rate and offset. Timers fire slightly late, and
 * sometimes very late.
 */
import type { Clock } from '../../../runtime/ports/clock.ts'
import type { Scheduled, SimProcess } from './kernel-process.ts'
import type { SeededRandom } from './sim-random.ts'

/** A busy event loop: most timers are late by less than the first, one in a hundred by up to the second. */
const USUAL_LATENESS_MS = 1
const RARE_LATENESS_MS = 25
const RARE_LATENESS = 0.01
/** Above the rounding error of virtual time, so that a tiny remainder passes. */
const LEAST_REST_MS = 0.001

export function createSimClock(process: SimProcess, worldRandom: SeededRandom): Clock {
  const random = worldRandom.fork(`clock ${process.id}`)
  return {
    now: process.wallMs,
    monotonic: process.monotonicMs,
    after: (delayMs, run) => {
      const deadlineMs = process.monotonicMs() + Math.max(0, delayMs)
      const latenessMs = random.between(0, random.chance(RARE_LATENESS) ? RARE_LATENESS_MS : USUAL_LATENESS_MS)
      let pending: Scheduled
      const expire = (): void => {
        // The clock may have slowed down meanwhile.
        if (process.monotonicMs() >= deadlineMs) run()
        else arm(LEAST_REST_MS)
      }
      const arm = (latenessMs: number): void => {
        pending = process.later(process.untilMonotonic(deadlineMs) + latenessMs, 'timer', expire, 'timer')
      }
      arm(latenessMs)
      return { cancel: () => pending.cancel() }
    },
  }
}
