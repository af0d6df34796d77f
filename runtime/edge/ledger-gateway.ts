/** Sends a client's request to the shard owner, and reduces the verdicts to one outcome. */
import type { ActorAddress } from '../../actors/address.ts'
import type { Caller } from '../../actors/account/commands.ts'
import type { Answer } from '../../actors/account/outcome.ts'
import type { Operation } from '../protocol/messages.ts'
import type { UnavailableReason } from '../ports/metrics.ts'
import type { Trail } from '../ports/trail.ts'

export interface LedgerGateway {
  /** Never rejects. */
  readonly ask: (request: GatewayRequest) => Promise<GatewayOutcome>
}

/** `actor`: its home decides the request. */
export interface GatewayRequest {
  readonly actor: ActorAddress
  readonly caller: Caller
  readonly operation: Operation
  /** undefined: the request is not traced. */
  readonly trail?: Trail
}

/**
 * `not_applied` only if proved: every attempt was rejected before it entered a mailbox, or its commit was refused
 * (I12).
 *   `no_shards`: the ledger was never migrated. `no_healthy_shards`: no shard has an owner. `shard_unavailable`: the
 *   shard has no owner, or its owner did not reply. `overloaded`: a mailbox is full.
 */
export type GatewayOutcome =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | {
      readonly kind: 'unavailable'
      readonly reason: UnavailableReason
      readonly outcome: 'not_applied' | 'unknown'
    }
