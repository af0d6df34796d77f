/** Whether a node can do its work, as /readyz says it. */
import type { Readiness } from '../../api/dependencies.ts'
import type { NodeMeasures } from '../../runtime/node/ledger-node.ts'
import { SILENT_AFTER_MS } from '../../runtime/shard-state.ts'

export interface NodeSurroundings {
  readonly measures: () => NodeMeasures
  /** Whether the link to NATS is up. */
  readonly connected: () => boolean
  readonly stopping: () => boolean
}

/**
 * `database`: the last probe of PostgreSQL committed, not long ago. `session`: the same of the renewal of the session
 * key. A proof that has been under way for longer than three periods is none. `clock`: within its bound of PostgreSQL's.
 * `serving`: it neither stops nor gives its shards away.
 */
export function nodeReadiness({ measures, connected, stopping }: NodeSurroundings): Readiness {
  const { probed, probedAgoMs, renewed, renewedAgoMs, clockInBounds, leaving } = measures()
  const checks = {
    database: probed && isFresh(probedAgoMs),
    nats: connected(),
    session: renewed && isFresh(renewedAgoMs),
    clock: clockInBounds,
    serving: !leaving && !stopping(),
  }
  return { ready: Object.values(checks).every(Boolean), checks }
}

function isFresh(agoMs: number | null): boolean {
  return agoMs !== null && agoMs < SILENT_AFTER_MS
}
