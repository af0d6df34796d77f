/**
 * How a shard fares, from what the ledger's store knows of it. What its owner could say of itself is not asked: an owner
 * that cannot answer must show, too.
 *   S1. `draining`, if an administrator said so. `owner` tells beside it whether anybody has the shard.
 *   S2. `unavailable`: nobody owns it, or its owner has been silent for so long that any other node would have taken it.
 *   S3. `moving`: it changed hands within the last moments, so that requests may still be on the way to the owner before;
 *       or its owner is silent, and others are about to take it.
 *   S4. `healthy`: none of these.
 */
import { SESSION_EXPIRY_MS } from './node/peers.ts'
import type { HealthState } from './ports/shard-health.ts'

/** Ages in milliseconds, by the store's own clock. */
export interface ShardSigns {
  readonly draining: boolean
  readonly owned: boolean
  /** Since its owner took it. */
  readonly ownedForMs: number
  /** Since the session of its owner last proved that it can commit. */
  readonly silentForMs: number
}

/** As long as an owner that gave it away goes on answering `moved`. */
export const SETTLED_AFTER_MS = 2_000
/** Three proofs in a row did not come, and the wait of the others is half over. */
export const SILENT_AFTER_MS = SESSION_EXPIRY_MS / 2
/** The wait of the others is over, and they have had several looks since. */
export const GIVEN_UP_AFTER_MS = 1.5 * SESSION_EXPIRY_MS

export function healthStateOf({ draining, owned, ownedForMs, silentForMs }: ShardSigns): HealthState {
  if (draining) return 'draining'
  if (!owned || silentForMs >= GIVEN_UP_AFTER_MS) return 'unavailable'
  if (ownedForMs < SETTLED_AFTER_MS || silentForMs >= SILENT_AFTER_MS) return 'moving'
  return 'healthy'
}
