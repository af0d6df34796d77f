/**
 * Messages between edges and nodes. One message carries all items of one tick for one node. Each item names its shard and
 * epoch and gets its own verdict. A node returns the verdicts in one message for each batch. wire.ts encodes them.
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
  /** Wall clock, milliseconds since 1970: past it nobody waits, and the item is dropped at its step. */
  readonly deadlineMs: number
  readonly operation: Operation
  /** Names it in logs. */
  readonly trail?: Trail
}

/**
 *   `answered`: left the output gate, true of the ledger.
 *   `moved`, `overloaded`: the item never entered a mailbox on this attempt.
 *   `not_applied`: it entered, the store refused its commit, and it left: the attempt has no effect.
 *   `undecided`: it did, and its owner can no longer say what became of it.
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

/** The subject a node listens on, one per session: a message to a dead session reaches nobody. */
export function sessionSubject(session: string): string {
  return `ledger.node.${session}`
}

/** The subject on which a node takes messages between shards. */
export function deliverySubject(session: string): string {
  return `ledger.node.${session}.deliveries`
}

/** The subject on which a node hears other nodes about shards. */
export function controlSubject(session: string): string {
  return `ledger.node.${session}.control`
}

/**
 * Committed messages of one shard to another, in order and without a gap. `acknowledged`: what the target is known to
 * have taken in. `epoch`, `attempt`: the source's incarnation that carries them; `began`: the last number that had been
 * sent when it began. A mark below the first, or above the last before that incarnation has sent anything, means that a
 * store went back.
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
 * `stopped`: the counters contradict each other, nothing more is taken until somebody has looked.
 * `parked`: the target cannot handle the message after `mark`; the source sends it again later.
 */
export interface DeliveryAnswer {
  readonly source: number
  readonly target: number
  readonly kind: 'taken' | 'moved' | 'stopped' | 'parked'
  readonly mark: number
}
