/**
 * The health of a shard, derived from the store alone, so that it shows an owner that does not reply.
 *   S1. `draining`: an administrator drains the shard. `owner` shows besides whether a node owns it.
 *   S2. `unavailable`: the shard has no owner, or its owner cannot commit or has been silent until others would take
 *       it.
 *   S3. `moving`: its owner changed within the last moments, or is silent and others are about to take the shard. The
 *       first owner of a shard has no predecessor.
 *   S4. `healthy`: none of these.
 */
import { SESSION_EXPIRY_MS } from './peers.ts'
import type { HealthState } from '../../ports/shard-health.ts'

/** Ages in milliseconds, by the store's own clock. */
export interface ShardSigns {
  readonly draining: boolean
  readonly owned: boolean
  /** Time since its owner took it over; Infinity for the first owner. */
  readonly ownedForMs: number
  /** Time since its owner's session last proved that it can commit; Infinity while it cannot. */
  readonly silentForMs: number
}

/** As long as a former owner replies `moved`. */
export const SETTLED_AFTER_MS = 2_000
/** Three proofs in a row are missing, and half of the expiry has passed. */
export const SILENT_AFTER_MS = SESSION_EXPIRY_MS / 2
/** The expiry has passed, and other nodes have had several rounds since. */
export const GIVEN_UP_AFTER_MS = 1.5 * SESSION_EXPIRY_MS

/** The epoch of a shard's first owner. */
const FIRST_EPOCH = 1

/** `ownedForMs`: time since the owner took the shard. */
export function sinceMovedMs(epoch: number, ownedForMs: number): number {
  return epoch <= FIRST_EPOCH ? Number.POSITIVE_INFINITY : ownedForMs
}

export function healthStateOf({ draining, owned, ownedForMs, silentForMs }: ShardSigns): HealthState {
  if (draining) return 'draining'
  if (!owned || silentForMs >= GIVEN_UP_AFTER_MS) return 'unavailable'
  if (ownedForMs < SETTLED_AFTER_MS || silentForMs >= SILENT_AFTER_MS) return 'moving'
  return 'healthy'
}
