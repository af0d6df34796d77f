/**
 * Guessing made slow (D17): after 20 failures within a minute for one client and address, the next refusals are late.
 *   F1. Only refusals wait: right credentials are answered at once, whatever happened before.
 *   F2. A bounded number of pairs is remembered and a bounded number of refusals waits; beyond it they go at once.
 */
import { type Clock, delay } from '../../runtime/ports/clock.ts'

const WINDOW_MS = 60_000
const FREE_FAILURES = 20
const DELAY_STEP_MS = 200
const MAX_DELAY_MS = 2000
const MAX_PAIRS = 10_000
const MAX_WAITING = 1000
/** The part of a client ID that is counted: here the caller chooses the ID. */
const MAX_NAME_LENGTH = 256

interface Failures {
  readonly since: number
  count: number
}

export interface FailureThrottle {
  /** Counts one failure and resolves when the refusal may leave. */
  readonly failed: (clientId: string, address: string) => Promise<void>
}

export function createFailureThrottle(clock: Clock): FailureThrottle {
  const pairs = new Map<string, Failures>()
  let waiting = 0

  function count(pair: string): number {
    const now = clock.monotonic()
    let failures = pairs.get(pair)
    pairs.delete(pair)
    if (failures === undefined || now - failures.since >= WINDOW_MS) failures = { since: now, count: 0 }
    failures.count += 1
    pairs.set(pair, failures)
    if (pairs.size > MAX_PAIRS) {
      const oldest = pairs.keys().next()
      if (oldest.done !== true) pairs.delete(oldest.value)
    }
    return failures.count
  }

  return {
    async failed(clientId, address) {
      const excess = count(`${address} ${clientId.slice(0, MAX_NAME_LENGTH)}`) - FREE_FAILURES
      if (excess <= 0 || waiting >= MAX_WAITING) return
      waiting += 1
      try {
        await delay(clock, Math.min(excess * DELAY_STEP_MS, MAX_DELAY_MS))
      } finally {
        waiting -= 1
      }
    },
  }
}
