/** The ports and rules that the parts of a node share. */
import type { ActorAddress } from '../../../actors/address.ts'
import type { StepActor } from '../../../actors/step-actor.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LedgerStore } from '../../ports/ledger-store.ts'
import type { Log } from '../../ports/log.ts'
import type { NodeMetrics } from '../../ports/metrics.ts'
import type { ReadPublicKey } from '../../ports/public-keys.ts'
import type { Random } from '../../ports/random.ts'
import type { RarePaths } from '../../ports/rare-paths.ts'
import type { Signer } from '../../ports/signer.ts'
import type { Transport } from '../../ports/transport.ts'
import type { Wire } from '../../protocol/wire.ts'
import type { InboxOrder } from './draft.ts'
import type { OutputGate } from './output-gate.ts'
import type { Unsupported } from './unsupported.ts'
import type { PinBoard } from './pin-board.ts'
import type { NodeSpans } from './command-span.ts'

export interface NodeContext {
  /** 32 hexadecimal digits, new with every start. */
  readonly session: string
  readonly store: LedgerStore
  readonly transport: Transport
  readonly wire: Wire
  readonly signer: Signer
  readonly readPublicKey: ReadPublicKey
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics?: NodeMetrics
  /** undefined: tracing is off. */
  readonly spans?: NodeSpans | undefined
  readonly rare: RarePaths
  readonly unsupported: Unsupported
  readonly pins: PinBoard
  readonly gate: OutputGate
  readonly step: StepActor
  readonly inboxOrder: InboxOrder
  /** The shard that decides an actor. */
  readonly homeOf: (actor: ActorAddress) => number
}
