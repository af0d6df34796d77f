/** The checks of a node's /readyz. */
import type { Readiness } from '../../api/http/dependencies.ts'
import type { NodeMeasures } from '../../runtime/node/ledger-node.ts'
import { SILENT_AFTER_MS } from '../../runtime/node/ownership/shard-state.ts'

export interface NodeState {
  readonly measures: () => NodeMeasures
  /** State of the connection to NATS. */
  readonly connected: () => boolean
  readonly stopping: () => boolean
}

/**
 * `database`: the last probe of PostgreSQL committed recently, and its disk has room. `commits`: PostgreSQL neither
 * refuses all commits nor delays one. `session`: the session key was renewed recently. A probe or renewal that takes
 * longer than three periods counts as failed. `clock`: within its bound of PostgreSQL's clock. `serving`: the node
 * neither stops nor releases its shards.
 */
export function nodeReadiness({ measures, connected, stopping }: NodeState): Readiness {
  const { probed, probedAgoMs, renewed, renewedAgoMs, clockInBounds, leaving, commitsFail } = measures()
  const checks = {
    database: probed && isFresh(probedAgoMs),
    commits: !commitsFail,
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
