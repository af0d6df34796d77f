/** The checks of an edge's /readyz. */
import type { Readiness, ReadinessWarning } from '../../api/http/dependencies.ts'
import { type Clock, delay } from '../../runtime/ports/clock.ts'
import { createSharedProbe } from './shared-probe.ts'

export interface EdgeDependenciesState {
  /** Asks PostgreSQL whether any shard has an owner. Rejects if PostgreSQL is unavailable. */
  readonly anyShardServed: () => Promise<boolean>
  /** State of the connection to NATS. */
  readonly connected: () => boolean
  /** True if this edge has a route to any shard. */
  readonly routed: () => boolean
  readonly clockTrusted: () => boolean
  readonly stopping: () => boolean
  /** Limits that are near or exceeded, from memory. */
  readonly warnings: () => readonly ReadinessWarning[]
}

/** A slower reply of PostgreSQL counts as a failure. */
const PROBE_TIMEOUT_MS = 2_000

/** `shards`: this edge has a route to a shard, and an owner of a shard has recently committed. */
export function createEdgeReadiness(
  clock: Clock,
  { anyShardServed, connected, routed, clockTrusted, stopping, warnings }: EdgeDependenciesState,
): () => Promise<Readiness> {
  let served = false
  const probeDatabase = createSharedProbe(clock, async () => {
    served = await anyShardServed()
  })
  return async () => {
    const database = await Promise.race([probeDatabase(), delay(clock, PROBE_TIMEOUT_MS).then(() => false)])
    const checks = {
      database,
      nats: connected(),
      shards: served && routed(),
      clock: clockTrusted(),
      serving: !stopping(),
    }
    return { ready: Object.values(checks).every(Boolean), checks, warnings: warnings() }
  }
}
