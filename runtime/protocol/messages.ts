/**
 * Messages between edges and nodes. One message carries all items of one tick for one node. Each item names its shard
 * and epoch and gets its own verdict. A node returns the verdicts in one message for each batch. wire.ts encodes them.
 */
import type { ActorAddress } from '../../actors/address.ts'
import type { Answer } from '../../actors/account/outcome.ts'
import type { Caller } from '../../actors/account/commands.ts'
import type { OPERATION_MEMBERS } from './message-shapes.ts'
import type { WrittenEnvelope } from '../ports/ledger-store.ts'
import type { Trail } from '../ports/trail.ts'
import type { KindOf } from './shapes.ts'

/** A client's request. The owner reads the fields out of the signed payload itself. */
export type Operation = KindOf<typeof OPERATION_MEMBERS>

export interface NamedTransaction {
  readonly txnId: string
  readonly accountId: string
}

/** One attempt at one request. `requestId` names the request over all its attempts; `attempt` counts from 1. */
export interface Item {
  readonly requestId: string
  readonly attempt: number
  readonly shardId: number
  readonly epoch: number
  readonly actor: ActorAddress
  readonly caller: Caller
  /** Wall clock, milliseconds since 1970: later the client no longer waits, and the step drops the item. */
  readonly deadlineMs: number
  readonly operation: Operation
  /** For logs. */
  readonly trail?: Trail
}

/**
 *   `answered`: the reply left the output gate and holds.
 *   `moved`, `overloaded`: the item never entered a mailbox on this attempt.
 *   `not_applied`: it entered, the store refused its commit, and it left: the attempt has no effect.
 *   `undecided`: it entered, and the owner does not know the outcome.
 *   `unsupported_version`: the item never entered a mailbox on this attempt, because the node does not know its form.
 */
export type Verdict =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'moved'; readonly epoch: number | null }
  | { readonly kind: 'overloaded' }
  | { readonly kind: 'not_applied' }
  | { readonly kind: 'undecided' }
  | { readonly kind: 'unsupported_version' }

export interface ItemVerdict {
  readonly requestId: string
  readonly attempt: number
  readonly verdict: Verdict
}

/** The subject of a node's session: a message to an ended session has no listener. */
export function sessionSubject(session: string): string {
  return `ledger.node.${session}`
}

/** The subject for messages between shards. */
export function deliverySubject(session: string): string {
  return `ledger.node.${session}.deliveries`
}

/** The subject for calls between nodes about shards. */
export function controlSubject(session: string): string {
  return `ledger.node.${session}.control`
}

/**
 * Consecutive committed messages from one shard to another. `acknowledged`: the last acknowledged number. `epoch`,
 * `attempt`: the source's incarnation that sends them; `began`: the last number sent before that incarnation. A store
 * was rewound if the target's mark is below the first, or above the last while that incarnation has sent nothing.
 */
export interface Delivery {
  readonly source: number
  readonly target: number
  readonly epoch: number
  readonly attempt: number
  readonly began: number
  readonly acknowledged: number
  readonly messages: readonly DeliveredMessage[]
}

export interface DeliveredMessage {
  readonly number: number
  readonly envelope: WrittenEnvelope
}

/**
 * The outcome of a delivery. `taken`: everything up to `mark` is committed. `moved`: the target is not served here.
 * `stopped`: the counters contradict each other; the channel needs an operator. `parked`: the target cannot handle the
 * message after `mark`; the source resends it later.
 */
export interface DeliveryAnswer {
  readonly source: number
  readonly target: number
  readonly kind: 'taken' | 'moved' | 'stopped' | 'parked'
  readonly mark: number
}
