/**
 * Edges tell each other how many requests of clients with a limit they let through. A message may be lost: then the
 * client gets that much more.
 */
import type { Rate } from '../../actors/rate.ts'

export interface ClientUsage {
  readonly clientId: string
  readonly rate: Rate
  /** Requests since the last message of this edge. */
  readonly requests: number
}

export interface UsageExchange {
  /** To all other edges. Never throws. */
  readonly tell: (usages: readonly ClientUsage[]) => void
  /** Calls back for each message of another edge. */
  readonly onTold: (handle: (usages: readonly ClientUsage[]) => void) => void
}
