/** Turns a client's request into messages to the shard's owner, and its verdicts into one outcome. */
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

/** `actor`: whose home judges it. */
export interface GatewayRequest {
  readonly actor: ActorAddress
  readonly caller: Caller
  readonly operation: Operation
  /** undefined: nobody follows it. */
  readonly trail?: Trail
}

/**
 * `not_applied` is said only when proved: every attempt was refused before it entered a mailbox (I12).
 *   `no_shards`: the ledger was never migrated. `no_healthy_shards`: no shard has an owner.
 *   `shard_unavailable`: this one has none, or its owner did not answer. `overloaded`: a mailbox is full.
 */
export type GatewayOutcome =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | {
      readonly kind: 'unavailable'
      readonly reason: UnavailableReason
      readonly outcome: 'not_applied' | 'unknown'
    }
