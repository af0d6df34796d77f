/** One shard node: serves the subject of its session, owns shards, and releases them before it stops. */
import type { StepSettings } from './shard/draft.ts'
import { stepActor } from '../../actors/step-actor.ts'
import { deliverySubject, sessionSubject } from '../protocol/messages.ts'
import { delay } from '../ports/clock.ts'
import type { LeaseStore } from '../ports/lease-store.ts'
import { NO_RARE_PATHS } from '../ports/rare-paths.ts'
import type { Tracing } from '../ports/tracing.ts'
import type { Service } from '../ports/transport.ts'
import { Routes } from '../routing/routes.ts'
import { WIRE } from '../protocol/wire.ts'
import type { CommitLimits } from './commit/group-commit.ts'
import { inboxOrder, type ShardDraft } from './shard/draft.ts'
import { outputGate } from './shard/output-gate.ts'
import { createNodeSpans } from './shard/command-span.ts'
import { createLedgerClock } from '../common/ledger-clock.ts'
import { Ownership, type OwnershipSettings } from './ownership/ownership.ts'
import { NodeCalls } from './ownership/node-calls.ts'
import { createPinBoard, type PinBoard } from './shard/pin-board.ts'
import type { NodeContext } from './shard/node-context.ts'
import { type HostMeasures, ShardHost } from './host/shard-host.ts'
import type { ResidentLimits } from './shard/incarnation.ts'
import type { MailboxLimits } from './delivery/admission.ts'
import { createUnsupported } from './shard/unsupported.ts'
import type { VitalSigns } from './ownership/vital-signs.ts'

/** Parts that the simulation replaces, to break a rule or to take a rare path; production uses the defaults. */
type Replaceable = 'wire' | 'rare' | 'pins' | 'gate' | 'step' | 'inboxOrder'

export interface LedgerNodeDependencies
  extends Omit<NodeContext, Replaceable | 'unsupported' | 'spans'>, Partial<Pick<NodeContext, Replaceable>> {
  readonly nodeId: string
  /** undefined: tracing is off. */
  readonly tracing?: Tracing | undefined
  readonly leases: LeaseStore
  readonly ledgerId: string
  readonly production: boolean
  readonly settings?: Partial<NodeSettings>
  /** Called before each commit with its drafts. */
  readonly onDrafted?: (drafts: readonly ShardDraft[]) => void
  /** Called after each commit with its commands, shards and milliseconds. */
  readonly onCommitted?: (commands: number, shards: number, durationMs: number) => void
  /** PostgreSQL shows an older state than this node has seen: the process must exit. */
  readonly onStoreWentBack: () => void
}

export type NodeSettings = CommitLimits & MailboxLimits & OwnershipSettings & Pick<StepSettings, 'accountRate'>

/**
 * Resident actors of a node that owns every shard. More do not help: with 400,000, garbage collection takes longer than
 * reading accounts from PostgreSQL, with pauses of one to two seconds.
 */
const MOST_ACTORS = 51_200

/** Default of `maxResidents` for a ledger with this number of shards. */
export function actorsPerShardOf(shards: number): number {
  return Math.ceil(MOST_ACTORS / shards)
}

/**
 * Bytes allowed per resident. Ordinary actors need less; accounts with thousands of holds and large groups need more.
 */
const BYTES_AN_ACTOR = 5_120

export function residentLimitsOf(maxResidents: number): ResidentLimits {
  return { maxResidents, maxResidentBytes: maxResidents * BYTES_AN_ACTOR }
}

export const NODE_DEFAULTS: NodeSettings = {
  maxBatchSize: 2_000,
  maxBatchBytes: 4 * 1_048_576,
  ...residentLimitsOf(actorsPerShardOf(256)),
  maxActorMailbox: 2_048,
  maxShardMailbox: 4_096,
  maxNodeMailbox: 16_384,
  maxOutbox: 4_096,
  reconcileMs: 1_000,
  renewMs: 2_000,
  // Wall clocks decide nothing (ledger-clock.ts): a larger skew means that one of the two is broken.
  maxClockSkewMs: 5_000,
  settleMs: 300,
}

/** Time in which a node without shards still replies `moved`. */
const MOVED_MS = 2_000

export interface NodeMeasures extends HostMeasures, VitalSigns {
  readonly leaving: boolean
  /** Age of the oldest open look-up: actors pinned since then stay in memory. */
  readonly oldestPinAgeMs: number
}

export class LedgerNode {
  private readonly dependencies: LedgerNodeDependencies
  private readonly host: ShardHost
  private readonly ownership: Ownership
  private readonly routes: Routes
  private readonly pins: PinBoard
  private services: readonly Service[] = []

  constructor(dependencies: LedgerNodeDependencies) {
    const settings = { ...NODE_DEFAULTS, ...dependencies.settings }
    this.dependencies = dependencies
    const { clock, ledgerId, production, random, tracing } = dependencies
    const context = {
      wire: WIRE,
      rare: NO_RARE_PATHS,
      pins: createPinBoard(clock),
      gate: outputGate,
      step: stepActor,
      inboxOrder,
      unsupported: createUnsupported(dependencies.log),
      spans: tracing === undefined ? undefined : createNodeSpans({ tracing, random }),
      ...dependencies,
    }
    this.routes = new Routes(context)
    const ledgerClock = createLedgerClock(clock)
    this.pins = context.pins
    this.host = new ShardHost({
      ...context,
      clock: ledgerClock,
      routes: this.routes,
      settings: { ...settings, ledgerId, production },
    })
    this.ownership = new Ownership({
      ...context,
      host: this.host,
      calls: new NodeCalls(context),
      settings,
      onStoreTime: ledgerClock.observe,
    })
  }

  async start(): Promise<void> {
    const { transport, session } = this.dependencies
    // Listening comes first: a shard that is owned must be reachable.
    this.services = [
      transport.serve(sessionSubject(session), (message, reply) => this.host.receive(message, reply)),
      transport.serve(deliverySubject(session), (message, reply) => this.host.receiveDeliveries(message, reply)),
    ]
    this.host.start()
    // Without routes messages wait until a refresh succeeds.
    await this.routes.start().catch(() => undefined)
    await this.ownership.start()
  }

  /** Gives every shard away, then stops listening. */
  async stop(): Promise<void> {
    await this.ownership.stop()
    this.host.stop()
    this.routes.stop()
    // Callers get `moved` meanwhile, instead of no reply.
    if (this.ownership.hasPeers()) await delay(this.dependencies.clock, MOVED_MS)
    await Promise.all(this.services.map((service) => service.drain()))
  }

  isReady(): boolean {
    return this.ownership.isReady()
  }

  /** Without side effects, and cheap. */
  measures(): NodeMeasures {
    return { ...this.host.measures(), ...this.ownership.measures(), oldestPinAgeMs: this.pins.oldestAgeMs() }
  }

  load(): { readonly shards: number; readonly backlog: number } {
    return { shards: this.host.serving().size, backlog: this.host.backlog() }
  }
}
