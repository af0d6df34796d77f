/**
 * Which sessions are held for dead. Expiry ends nothing by itself: it allows others to take (I1 keeps that safe).
 *   E1. A session is dead when its key has not changed, or has been absent, for `expiryMs` on our own monotonic clock.
 *   E2. Observations start over when we ourselves were cut off or stalled, or when most keys vanish at once: then it is
 *       the store that was lost, not its writers.
 */
import type { Clock } from '../ports/clock.ts'
import type { ListedSession } from '../ports/lease-store.ts'

/** Longer than a failover of the lease store, and than two nodes' clocks may drift apart in that time. */
export const SESSION_EXPIRY_MS = 12_000
const STALL_MS = 3_000

interface Observation {
  readonly session: string
  readonly revision: number
  readonly sinceMs: number
}

export class Peers {
  private readonly clock: Clock
  private observations = new Map<string, Observation>()
  private lastListed: ReadonlySet<string> = new Set()
  private lastLookMs: number | undefined

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** Takes in a complete listing, and the sessions that the ledger names as owners. */
  observe(listed: readonly ListedSession[], owners: readonly { nodeId: string; session: string }[]): void {
    const nowMs = this.clock.monotonic()
    const stalled = this.lastLookMs !== undefined && nowMs - this.lastLookMs > STALL_MS
    const known = this.observations
    const present = new Set(listed.map(({ session }) => session))
    const vanished = [...this.lastListed].filter((session) => !present.has(session)).length
    const lost = this.lastListed.size > 2 && vanished * 2 > this.lastListed.size
    const next = new Map<string, Observation>()
    const note = (session: string, revision: number) => {
      const before = stalled || lost ? undefined : known.get(session)
      next.set(session, before?.revision === revision ? before : { session, revision, sinceMs: nowMs })
    }
    for (const { session, revision } of listed) note(session, revision)
    for (const { session } of owners) if (!present.has(session)) note(session, 0)
    this.observations = next
    this.lastListed = present
    this.lastLookMs = nowMs
  }

  /** No listing could be had: what was seen before says nothing about now. */
  forget(): void {
    this.observations = new Map()
    this.lastLookMs = undefined
  }

  isDead(session: string): boolean {
    const seen = this.observations.get(session)
    return seen !== undefined && this.clock.monotonic() - seen.sinceMs >= SESSION_EXPIRY_MS
  }
}
