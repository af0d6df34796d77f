/** A broken rule: replacements for parts of the product or of its store. */
import type { LogPublisher } from '../../infra/log/log-publisher.ts'
import type { Witness } from '../../infra/log/witness.ts'
import { type StepActor, stepActor } from '../../actors/step-actor.ts'
import type { InboxOrder } from '../../runtime/node/shard/draft.ts'
import type { OutputGate } from '../../runtime/node/shard/output-gate.ts'
import type { PinBoard } from '../../runtime/node/shard/pin-board.ts'
import type { ShardHost } from '../../runtime/node/host/shard-host.ts'
import type { LedgerEvents } from '../../runtime/ports/ledger-events.ts'
import type { LedgerStore } from '../../runtime/ports/ledger-store.ts'
import type { Signer } from '../../runtime/ports/signer.ts'
import type { Transport } from '../../runtime/ports/transport.ts'
import type { LogStore } from '../../runtime/ports/log-store.ts'
import type { WebhookSender } from '../../runtime/ports/webhook-sender.ts'
import type { Routes } from '../../runtime/routing/routes.ts'
import type { SimProcess } from './kernel/kernel-process.ts'
import type { StoreRule } from './store/faults.ts'

export interface Breaks {
  /** The rule that the database breaks. */
  readonly database?: StoreRule
  /** Wraps the store of each node. `host` returns the node's host once it exists. */
  readonly store?: (store: LedgerStore, host: () => ShardHost) => LedgerStore
  readonly transport?: (transport: Transport, store: LedgerStore, host: () => ShardHost) => Transport
  readonly signer?: (signer: Signer) => Signer
  readonly pins?: PinBoard
  readonly gate?: () => OutputGate
  readonly inboxOrder?: InboxOrder
  readonly host?: (host: ShardHost) => void
  /** The step of the nodes and of the row replay. */
  readonly step?: StepActor
  /** The step of each node that starts; the row replay uses the correct one. */
  readonly hiddenStep?: () => StepActor
  /** Wraps the transport of each edge. */
  readonly edge?: (transport: Transport, process: SimProcess, routes: Routes) => Transport
  /** Wraps the event log of the webhooks of each edge. */
  readonly events?: (events: LedgerEvents) => LedgerEvents
  readonly sender?: (sender: WebhookSender) => WebhookSender
  /** Wraps the store of the witnessed log of each edge. */
  readonly logStore?: (store: LogStore) => LogStore
  readonly publisher?: (publisher: LogPublisher) => void
  readonly witness?: (witness: Witness) => void
}

/** A node's parts with the breaks applied. */
export function brokenParts<
  Parts extends { readonly store: LedgerStore; readonly transport: Transport; readonly signer: Signer },
>(breaks: Breaks, parts: Parts, host: () => ShardHost) {
  const { pins, gate, inboxOrder, step = stepActor, hiddenStep } = breaks
  const store = breaks.store?.(parts.store, host) ?? parts.store
  return {
    ...parts,
    store,
    transport: breaks.transport?.(parts.transport, store, host) ?? parts.transport,
    signer: breaks.signer?.(parts.signer) ?? parts.signer,
    ...(pins === undefined ? {} : { pins }),
    ...(gate === undefined ? {} : { gate: gate() }),
    ...(inboxOrder === undefined ? {} : { inboxOrder }),
    step: hiddenStep?.() ?? step,
  }
}
