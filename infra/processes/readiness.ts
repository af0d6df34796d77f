/** The checks of /readyz. */
import type { Readiness, ReadinessWarning } from '../../api/http/dependencies.ts'
import type { NodeMeasures } from '../../runtime/node/ledger-node.ts'
import { SILENT_AFTER_MS } from '../../runtime/node/ownership/shard-state.ts'
import { type Clock, delay } from '../../runtime/ports/clock.ts'

export interface EdgeState {
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
  { anyShardServed, connected, routed, clockTrusted, stopping, warnings }: EdgeState,
): () => Promise<Readiness> {
  let served = false
  const readServed = createSharedReading(clock, anyShardServed)
  return async () => {
    const read = await readServed()
    served = read ?? served
    const checks = {
      database: read !== undefined,
      nats: connected(),
      shards: served && routed(),
      clock: clockTrusted(),
      serving: !stopping(),
    }
    return { ready: Object.values(checks).every(Boolean), checks, warnings: warnings() }
  }
}

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

/** `audit`: this auditor works. A second auditor is ready only when the first has ended. */
export function auditorReadiness(isWorking: () => boolean): Readiness {
  const audit = isWorking()
  return { ready: audit, checks: { audit } }
}

function isFresh(agoMs: number | null): boolean {
  return agoMs !== null && agoMs < SILENT_AFTER_MS
}

/** Reads at most once per second. Resolves within 2 s: with undefined if the read fails, or takes longer. */
export function createSharedReading<Value>(clock: Clock, read: () => Promise<Value>): () => Promise<Value | undefined> {
  let last: Value | undefined
  const probe = createSharedProbe(clock, async () => {
    last = await read()
  })
  return async () => {
    const succeeded = await Promise.race([probe(), delay(clock, PROBE_TIMEOUT_MS).then(() => false)])
    return succeeded ? last : undefined
  }
}

/** A result is reused for this time after the probe began. */
const MAX_AGE_MS = 1_000

/**
 * Shares one probe between all callers, at most one per second and one at a time. So requests without a token cannot
 * overload the probed service.
 */
export function createSharedProbe(clock: Clock, probe: () => Promise<unknown>): () => Promise<boolean> {
  let inFlight: Promise<boolean> | undefined
  let last: { readonly startedAtMs: number; readonly succeeded: boolean } | undefined

  async function run(): Promise<boolean> {
    const startedAtMs = clock.monotonic()
    const succeeded = await probe().then(
      () => true,
      () => false,
    )
    last = { startedAtMs, succeeded }
    inFlight = undefined
    return succeeded
  }

  return () => {
    if (inFlight !== undefined) return inFlight
    if (last !== undefined && clock.monotonic() - last.startedAtMs < MAX_AGE_MS) return Promise.resolve(last.succeeded)
    inFlight = run()
    return inFlight
  }
}
