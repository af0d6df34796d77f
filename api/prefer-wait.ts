/**
 * `Prefer: wait=N` (RFC 7240, D8): an answer that is not final is looked at again until it is, or N seconds have passed.
 *   W1. At most 256 requests wait at a time; beyond, the answer is immediate.
 *   W2. What waiting costs the store is bounded by that number and the interval between looks.
 */
import { type Clock, delay } from '../runtime/ports/clock.ts'

const MAX_WAITING = 256
const MAX_WAIT_S = 30
const FIRST_INTERVAL_MS = 10
/** Each look comes half as late again as the one before: the answer is late by a third of what it took at most. */
const GROWTH = 1.5
const MAX_INTERVAL_MS = 1000

const WAIT = /(?:^|[,;])[ \t]*wait[ \t]*=[ \t]*"?([0-9]+)"?[ \t]*(?=$|[,;])/i

export interface Waiting<T> {
  readonly value: T
  /** What the answer says of the preference. */
  readonly headers: Readonly<Record<string, string>>
}

export interface PreferWait {
  /** Looks until the value is final. `prefer`: the header as it came. */
  readonly until: <T>(
    prefer: string | undefined,
    look: () => Promise<T>,
    isFinal: (value: T) => boolean,
  ) => Promise<Waiting<T>>
}

export function createPreferWait(clock: Clock): PreferWait {
  let waiting = 0

  async function lookAgain<T>(
    first: T,
    waitMs: number,
    look: () => Promise<T>,
    isFinal: (value: T) => boolean,
  ): Promise<T> {
    const deadlineMs = clock.monotonic() + waitMs
    let value = first
    let intervalMs = FIRST_INTERVAL_MS
    for (let leftMs = waitMs; !isFinal(value) && leftMs > 0; leftMs = deadlineMs - clock.monotonic()) {
      await delay(clock, Math.min(intervalMs, leftMs))
      value = await look()
      intervalMs = Math.min(intervalMs * GROWTH, MAX_INTERVAL_MS)
    }
    return value
  }

  return {
    async until(prefer, look, isFinal) {
      const first = await look()
      const asked = prefer === undefined ? undefined : WAIT.exec(prefer)?.[1]
      if (asked === undefined || (waiting >= MAX_WAITING && !isFinal(first))) return { value: first, headers: {} }
      const waitS = Math.min(Number(asked), MAX_WAIT_S)
      waiting += 1
      try {
        const value = await lookAgain(first, waitS * 1000, look, isFinal)
        return { value, headers: { 'preference-applied': `wait=${waitS}`, vary: 'Prefer' } }
      } finally {
        waiting -= 1
      }
    },
  }
}
