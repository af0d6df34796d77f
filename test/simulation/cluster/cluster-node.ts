/**
 * One node and one edge of the simulated cluster: the production runtime over simulated ports, with its messages
 * observed.
 */
import { Gateway, GATEWAY_DEFAULTS } from '../../../runtime/edge/gateway.ts'
import { createLedgerClock, followStoreTime } from '../../../runtime/common/ledger-clock.ts'
import { LedgerNode, type LedgerNodeDependencies } from '../../../runtime/node/ledger-node.ts'
import type { ShardHost } from '../../../runtime/node/host/shard-host.ts'
import type { LedgerStore } from '../../../runtime/ports/ledger-store.ts'
import type { Log, LogFields } from '../../../runtime/ports/log.ts'
import { Routes } from '../../../runtime/routing/routes.ts'
import type { ActorAddress } from '../../../actors/address.ts'
import { type Breaks, brokenParts } from '../breaks.ts'
import { watchedStore, watchedTransport } from './cluster-witness.ts'
import { createDeadlineWitness } from './deadline-witness.ts'
import { watchedAttempts } from './edge-witness.ts'
import type { FaultyParts } from './cluster-faulty.ts'
import type { ClientChecker } from '../invariants/clients.ts'
import type { RowReplay } from '../invariants/rows.ts'
import type { LedgerChecker } from '../invariants/invariants.ts'
import type { SimProcess } from '../kernel/kernel-process.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { OwnershipWitness } from './ownership-witness.ts'
import type { ImportBook } from '../reference/imports.ts'
import { createSimClock } from '../kernel/sim-clock.ts'
import { createSimLeaseStore, type SimLeaseServer } from './sim-lease-store.ts'
import type { SimDatabase } from '../store/database.ts'
import { createSimLedgerStore, type StopCause } from '../store/sim-ledger-store.ts'
import { createSimRandom } from '../kernel/sim-random.ts'
import { createSimRarePaths, type RareRates } from './sim-rare-paths.ts'
import { createSimSigner, readSimPublicKey } from './sim-signer.ts'
import { createSimTransport, type SimNetwork } from './sim-transport.ts'
import type { SimLog } from './sim-log.ts'
import type { SimAttestations } from './sim-attestations.ts'
import type { SimWebhooks } from './sim-webhooks.ts'
import { type Story, storyTransport } from '../story.ts'
import type { ClusterWires } from './cluster-wires.ts'

export const LEDGER_ID = 'simulated-ledger'
export const RECEIPT_KEY_ID = 'receipt-key'

/** Dependencies of nodes and edges. */
export interface World {
  readonly kernel: Kernel
  readonly database: SimDatabase
  readonly network: SimNetwork
  readonly leases: SimLeaseServer
  readonly checker: LedgerChecker
  readonly rowReplay: RowReplay | undefined
  readonly ownership?: OwnershipWitness
  readonly clients: ClientChecker
  readonly attestations: SimAttestations
  readonly webhooks: SimWebhooks
  readonly ledgerLog: SimLog
  /** Exports of other ledgers, and the import orders for them. */
  readonly imports: ImportBook
  readonly breaks: Breaks
  readonly rareRates: RareRates
  /** The home shard of an actor. */
  readonly homeOf: (actor: ActorAddress) => number
  readonly injected?: FaultyParts | undefined
  readonly story?: Story | undefined
  readonly wires: ClusterWires
  /** The named process has ended because of the database server that it found; its supervisor starts it again. */
  readonly onRefused?: (name: string) => void
}

export interface SimNode {
  readonly process: SimProcess
  readonly session: string
  readonly store: LedgerStore
  readonly host: ShardHost
  readonly node: LedgerNode
}

export interface SimEdge {
  readonly process: SimProcess
  readonly gateway: Gateway
}

/** Small bounds make events frequent that are rare at full size. */
const NODE_SETTINGS = {
  maxBatchSize: 6,
  maxResidents: 3,
  maxResidentBytes: 9_000,
  maxActorMailbox: 25,
  maxShardMailbox: 40,
  maxNodeMailbox: 90,
  maxOutbox: 60,
  settleMs: 200,
}

/** The largest allowed difference between a node's clock and the store's: shards move between clocks that disagree. */
const USUAL_SKEW_MS = 240

/** Starts a new incarnation of the named node. */
export function startNode(world: World, name: string): SimNode {
  const { kernel, database, network, leases, breaks } = world
  const process = kernel.process(name)
  process.setClock({ offsetMs: kernel.random.fork(`offset ${process.id}`).between(-USUAL_SKEW_MS, USUAL_SKEW_MS) })
  const clock = createSimClock(process, kernel.random)
  const random = createSimRandom(kernel.random, process.id)
  const session = random.hex(16)
  world.story?.knows(session, name)
  const log = watchedLog(world, process)
  const onStopped = (reason: string, cause: StopCause): void => {
    if (cause === 'server') return endRefused(world, process, log, reason)
    log.error('store_stopped', { reason })
    process.crash()
  }
  const bare = createSimLedgerStore({ database, process, session, nodeId: name, onStopped })
  const orders = world.rowReplay?.orders.watched(bare)
  const counted = watchedStore(orders?.store ?? bare, kernel)
  const own = world.ownership?.watchedStore(counted, { session, process, host: () => host }) ?? counted
  const deadlines = createDeadlineWitness(kernel, process, (holds, broken) => world.checker.demand(holds, broken))
  const transport = storyTransport(
    world.story,
    process.name,
    watchedTransport(createSimTransport(network, process), world, session, process.id),
  )
  const heard = world.ownership?.watchedTransport(transport) ?? transport
  const signer = createSimSigner(process, kernel.random, { receiptKeyId: RECEIPT_KEY_ID })
  const ports = brokenParts(breaks, { store: own, transport: deadlines.watched(heard), signer }, () => host)
  const dependencies: LedgerNodeDependencies = {
    nodeId: name,
    session,
    ...ports,
    readPublicKey: readSimPublicKey,
    wire: world.wires.of(process),
    leases: createSimLeaseStore(leases, process),
    clock,
    random,
    log,
    ledgerId: LEDGER_ID,
    production: false,
    homeOf: world.homeOf,
    settings: NODE_SETTINGS,
    rare: createSimRarePaths(kernel, process, world.rareRates),
    onDrafted: (drafts) => {
      deadlines.drafted(drafts)
      orders?.drafted(drafts)
    },
    onCommitted: () => kernel.count('node:commit'),
    onStoreWentBack: () => process.crash(),
  }
  const node = new LedgerNode(world.injected?.over(dependencies) ?? dependencies)
  // The only access to the node's internals: the shards it serves, and takeovers that only a mistake would start.
  const host: ShardHost = Reflect.get(node, 'host') as ShardHost
  breaks.host?.(host)
  process.later(0, 'starts', () => void node.start())
  return { process, session, store: ports.store, host, node }
}

/** Makes the node take a shard from its owner, as ownership does when it wrongly considers the owner dead. */
export function usurp({ kernel, database }: World, { process, store, host }: SimNode, shardId: number): void {
  const take = async (): Promise<void> => {
    if (host.serving().has(shardId)) return
    // Uses the current epoch, so that the acquisition can overlap the commit that triggered it.
    const { epoch } = database.shards.row(shardId)
    const result = await store.acquire(shardId, epoch, epoch + 1)
    if (result.kind !== 'owned') return
    kernel.count('fault:usurped')
    const start = await store.openShard(shardId)
    // Ownership may have acquired the shard again in a later epoch.
    if ((host.serving().get(shardId)?.epoch ?? -1) < result.token.epoch) host.serve(result.token, start)
  }
  process.deliver(() => void take().catch(() => undefined))
}

export function startEdge(world: World, name: string): SimEdge {
  const { kernel, database, network, leases, rareRates, homeOf, breaks } = world
  const process = kernel.process(name)
  const clock = createSimClock(process, kernel.random)
  const random = createSimRandom(kernel.random, process.id)
  const log = watchedLog(world, process)
  const session = random.hex(16)
  const store = createSimLedgerStore({ database, process, session, nodeId: name, looksAtServer: false })
  const refuseUnaccepted = async (): Promise<void> => {
    const refusal = await store.refusal()
    if (refusal !== undefined) endRefused(world, process, log, refusal)
  }
  const rare = createSimRarePaths(kernel, process, rareRates)
  const routes = new Routes({ store, leases: createSimLeaseStore(leases, process), clock, rare })
  const recorded = storyTransport(world.story, process.name, createSimTransport(network, process))
  const watched = watchedAttempts(recorded, kernel, process)
  const transport = breaks.edge?.(watched, process, routes) ?? watched
  const ledgerClock = createLedgerClock(clock)
  // Same order as in infra/processes/edge-process.ts.
  const start = async (): Promise<void> => {
    await refuseUnaccepted().catch(() => undefined)
    await routes.start()
    followStoreTime(ledgerClock, async () => {
      await refuseUnaccepted()
      return (await store.probe()).nowMs
    })
  }
  process.later(0, 'starts', () => void start())
  world.webhooks.deliverOn(process, log)
  world.ledgerLog.extendOn(process, log)
  return {
    process,
    gateway: new Gateway({
      transport,
      wire: world.wires.of(process),
      routes,
      clock: ledgerClock,
      random,
      rare,
      homeOf,
      settings: GATEWAY_DEFAULTS,
    }),
  }
}

/** A process that finds a server that it must not use exits, as in production; this is no violation. */
function endRefused({ onRefused }: World, process: SimProcess, log: Log, reason: string): void {
  log.warn('server_refused', { reason })
  process.exit()
  onRefused?.(process.name)
}

/** Counts log events. A quarantined shard or a rewound store is a violation: the simulation injects neither. */
function watchedLog({ kernel, checker, wires, injected }: World, process: SimProcess): Log {
  const record = (event: string, fields: unknown): void => {
    kernel.count(`log:${event}`)
    kernel.record(`${kernel.now()} ${process.id} logs ${event} ${JSON.stringify(fields ?? {})}`)
  }
  return {
    info: record,
    warn: record,
    error: (event, fields) => {
      record(event, fields)
      const harmless =
        injected?.explains(event) === true ||
        event === 'command_refused' ||
        event === 'log_not_witnessed' ||
        isParkedByStore(event, fields) ||
        isDamaged(kernel, event, fields) ||
        wires.explains(event)
      checker.demand(harmless, `${process.id} logs ${event} ${JSON.stringify(fields ?? {})}`)
    },
  }
}

/** The receiver cannot read the version of a message that was damaged in transit. */
function isDamaged(kernel: Kernel, event: string, fields: LogFields | undefined): boolean {
  const damaged = DAMAGED.some((what) => kernel.counted(what) > 0)
  return event === 'version_unsupported' && fields?.['version'] === null && damaged
}

const DAMAGED = ['fault:items_damaged', 'fault:deliveries_damaged', 'fault:control_damaged']

const PARKED = new Set(['channel_parked', 'timer_parked'])

/**
 * The simulated store may fail each look-up of a message or timer: the node parks the item and retries it later (K7).
 */
function isParkedByStore(event: string, fields: LogFields | undefined): boolean {
  return PARKED.has(event) && fields?.['stage'] === 'look_up' && fields['cause'] === 'the look-up failed'
}
