/**
 * Limits how often a client begins or renews a session at this edge, beside the rate of its requests.
 *   S1. Each leaves a row in the access store until its refresh token would have expired: 5 a second take some 150 MB a day.
 *   S2. Only proven clients count: a sender without credentials uses up nothing of a client.
 */
import type { Rate } from '../../actors/rate.ts'
import { createTokenBuckets } from '../../runtime/common/token-buckets.ts'
import type { Clock } from '../../runtime/ports/clock.ts'

/** The burst is for the start of many processes of one client. */
export const SESSION_RATE: Rate = { perSecond: 5, burst: 1_000 }
const MAX_CLIENTS = 10_000

export interface SessionLimit {
  /** Whether the client may begin or renew a session. Counts nothing. */
  readonly admits: (clientId: string) => boolean
  /** Counts a session that a proven client begins or renews. */
  readonly count: (clientId: string) => void
}

export function createSessionLimit(clock: Pick<Clock, 'monotonic'>): SessionLimit {
  const buckets = createTokenBuckets(MAX_CLIENTS)
  return {
    admits: (clientId) => buckets.level(clientId, SESSION_RATE, clock.monotonic()).tokens > 0,
    count: (clientId) => void buckets.take(clientId, SESSION_RATE, 1, clock.monotonic()),
  }
}
