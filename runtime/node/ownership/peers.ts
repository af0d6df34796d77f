/**
 * Sessions that count as dead. Expiry only allows other nodes to take their shards (I1 keeps that safe).
 *   E1. A session is dead when its key has been unchanged or absent for `SESSION_EXPIRY_MS` on this node's own clock.
 *   E2. A session that reports for `UNREADY_EXPIRY_MS` that it is not ready has lost the ledger's store and can serve
 *       nothing. Its own report needs less time than silence, which may be this node's fault.
 *   E3. Observations start over if this node was cut off or stalled, or if most keys vanish at once: then the lease
 *       store lost the keys.
 */
import type { Clock } from '../../ports/clock.ts'
import type { ListedSession, SessionRecord } from '../../ports/lease-store.ts'
import type { ShardRecord } from '../../ports/ledger-store.ts'

/** Longer than a failover of the lease store, and than the drift of two nodes' clocks in that time. */
export const SESSION_EXPIRY_MS = 12_000
export const UNREADY_EXPIRY_MS = 6_000
const STALL_MS = 3_000
/** A renewal is due every two seconds: a live session is called about every other round. */
const SILENT_MS = 1_000

interface Observation {
  readonly revision: number
  readonly sinceMs: number
  /** The time since which it has reported that it is not ready; null while it is ready. */
  readonly unreadySinceMs: number | null
}

export class Peers {
  private readonly clock: Clock
  private observations = new Map<string, Observation>()
  private lastListed: ReadonlySet<string> = new Set()
  private lastLookMs: number | undefined

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** Records a complete listing, and the sessions that the ledger names as owners. */
  observe(listed: readonly ListedSession[], owners: readonly SessionName[]): void {
    const nowMs = this.clock.monotonic()
    const stalled = this.lastLookMs !== undefined && nowMs - this.lastLookMs > STALL_MS
    const known = this.observations
    const present = new Set(listed.map(({ session }) => session))
    const vanished = [...this.lastListed].filter((session) => !present.has(session)).length
    const lost = this.lastListed.size > 2 && vanished * 2 > this.lastListed.size
    const next = new Map<string, Observation>()
    const note = (session: string, revision: number, ready: boolean) => {
      const before = stalled || lost ? undefined : known.get(session)
      const sinceMs = before?.revision === revision ? before.sinceMs : nowMs
      next.set(session, { revision, sinceMs, unreadySinceMs: ready ? null : (before?.unreadySinceMs ?? nowMs) })
    }
    for (const { session, revision, ready } of listed) note(session, revision, ready)
    for (const { session } of owners) if (!present.has(session)) note(session, 0, true)
    this.observations = next
    this.lastListed = present
    this.lastLookMs = nowMs
  }

  /** Listing failed: discards liveness observations. */
  forget(): void {
    this.observations = new Map()
    this.lastLookMs = undefined
  }

  /** Whether the session has not renewed lately: a reason only to call it. */
  isSilent(session: string): boolean {
    const seen = this.observations.get(session)
    return seen === undefined || this.clock.monotonic() - seen.sinceMs >= SILENT_MS
  }

  isDead(session: string): boolean {
    const seen = this.observations.get(session)
    if (seen === undefined) return false
    const nowMs = this.clock.monotonic()
    const isUnready = seen.unreadySinceMs !== null && nowMs - seen.unreadySinceMs >= UNREADY_EXPIRY_MS
    return isUnready || nowMs - seen.sinceMs >= SESSION_EXPIRY_MS
  }
}

export type SessionName = Pick<SessionRecord, 'nodeId' | 'session'>

/** The sessions that own shards. */
export function ownersOf(records: readonly ShardRecord[]): readonly SessionName[] {
  const owners = new Map<string, SessionName>()
  for (const { nodeId, session } of records) {
    if (nodeId !== null && session !== null) owners.set(session, { nodeId, session })
  }
  return [...owners.values()]
}
