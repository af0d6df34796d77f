/** Whether an edge can serve, as /readyz says it. */
import type { Readiness, ReadinessWarning } from '../../api/http/dependencies.ts'
import { type Clock, delay } from '../../runtime/ports/clock.ts'
import { createSharedProbe } from './shared-probe.ts'

export interface EdgeSurroundings {
  /** Asks PostgreSQL whether anybody serves any shard. Rejects when it is not reached. */
  readonly anyShardServed: () => Promise<boolean>
  /** Whether the link to NATS is up. */
  readonly connected: () => boolean
  /** Whether a route to any shard is known here. */
  readonly routed: () => boolean
  /** Whether this machine's clock agrees with PostgreSQL's. */
  readonly clockTrusted: () => boolean
  readonly stopping: () => boolean
  /** Limits that are near or exceeded, from memory. */
  readonly warnings: () => readonly ReadinessWarning[]
}

/** PostgreSQL that answers later is not reached: whoever asks does not wait for it. */
const PROBE_TIMEOUT_MS = 2_000

/** `shards`: a route to one is known, and an owner of one has lately proved that it can commit. */
export function createEdgeReadiness(
  clock: Clock,
  { anyShardServed, connected, routed, clockTrusted, stopping, warnings }: EdgeSurroundings,
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
