/** When a failed delivery is tried again, and when it is given up. */
import type { Random } from '../ports/random.ts'

/** Short: all later events of the webhook wait for this one. */
const FIRST_DELAY_MS = 20
export const MAX_DELAY_MS = 86_400_000
/** From the first failed attempt of an event. */
export const GIVE_UP_AFTER_MS = 5 * MAX_DELAY_MS
/** Above it the delay is the longest one, and 2 to that power is still exact. */
const MAX_DOUBLINGS = 30

/** `failures`: consecutive ones, at least 1. The delay doubles with each; half of it is random. */
export function delayAfter(failures: number, random: Pick<Random, 'integer'>): number {
  const longest = Math.min(FIRST_DELAY_MS * 2 ** Math.min(failures - 1, MAX_DOUBLINGS), MAX_DELAY_MS)
  const least = Math.ceil(longest / 2)
  return least + random.integer(longest - least + 1)
}

/** The last attempt is made when the time is over, not before. */
export function nextAttemptAt(
  { failures, failingSinceMs, nowMs }: { failures: number; failingSinceMs: number; nowMs: number },
  random: Pick<Random, 'integer'>,
): number {
  return Math.min(nowMs + delayAfter(failures, random), Math.max(nowMs, failingSinceMs + GIVE_UP_AFTER_MS))
}
