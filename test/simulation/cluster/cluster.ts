/**
 * A whole cluster in one process, from one seed: production nodes and edges over simulated ports, clients, and faults.
 * A phase of faults is followed by one without: every request must end (I11).
 */
import { createHash } from 'node:crypto'
import { type ActorAddress, actorKey } from '../../../actors/address.ts'
import { stepActor } from '../../../actors/step-actor.ts'
import type { Breaks } from '../breaks.ts'
import {
  LEDGER_ID,
  RECEIPT_KEY_ID,
  type SimEdge,
  type SimNode,
  startEdge,
  startNode,
  usurp,
  type World,
} from './cluster-node.ts'
import type { FaultyParts } from './cluster-faulty.ts'
import { createClusterWires, type WireMix } from './cluster-wires.ts'
import { drawRates, endRates, strike } from './faults.ts'
import { ClientChecker } from '../invariants/clients.ts'
import type { Demand } from '../invariants/messages.ts'
import { RowReplay } from '../invariants/rows.ts'
import { PUBLISHED_WITHIN_MS } from '../invariants/log.ts'
import { LedgerChecker } from '../invariants/invariants.ts'
import { createKernel, type Kernel, type RunEnd, SimulationFailure } from '../kernel/kernel.ts'
import type { Plan } from '../plan.ts'
import { OwnershipWitness } from './ownership-witness.ts'
import { ImportBook } from '../reference/imports.ts'
import { createSimLeaseServer } from './sim-lease-store.ts'
import { SimDatabase } from '../store/database.ts'
import { simReceiptPublicKey, simVerify } from './sim-signer.ts'
import { SimAttestations } from './sim-attestations.ts'
import { SimLog } from './sim-log.ts'
import { SimWebhooks } from './sim-webhooks.ts'
import { createSimNetwork } from './sim-transport.ts'
import type { Story } from '../story.ts'
import { violationOf } from '../violations.ts'
import { Workload } from '../workload/workload.ts'

export interface ClusterOptions {
  readonly plan: Plan
  readonly breaks?: Breaks
  readonly wires?: WireMix
  /** Injected faults in the dependencies of the nodes. */
  readonly injected?: FaultyParts
  readonly keepTrace?: boolean
  /** False: skips the row replay, which takes a fifth of a run and does not change it. */
  readonly replaysRows?: boolean
  /** Records every event; does not change the run. */
  readonly story?: Story | undefined
}

export type ClusterRun = RunEnd

const SHARD_COUNT = 4
/** Two lease expiries and the duration of a rebalance. */
const LIVENESS_MS = 120_000
/** How long a clock runs too fast or too slow before it is corrected. */
const CLOCK_BENT_MS = 4_000
/** Delay before a supervisor restarts a process that exited. */
const SUPERVISED_MS = { from: 100, to: 2_500 }
/** Interval between checks whether everything has ended. */
const REST_POLL_MS = 250
/** Lines at the end of the trace that a failure shows, unless the whole trace was kept. */
const SHOWN_LINES = 60

/** Runs one plan to its end. Rejects with a `SimulationFailure` that names the seed and the broken invariant. */
export async function runCluster(options: ClusterOptions): Promise<ClusterRun> {
  const { plan, keepTrace = false } = options
  const kernel = createKernel({ seed: plan.seed, keepTrace, maxTimeMs: 600_000, witness: options.story?.witness })
  const cluster = createCluster(kernel, options)
  const { checker } = cluster.world
  const failing = (violations: readonly string[]): SimulationFailure => violation(kernel, violations, keepTrace)
  const run = async (condition: () => boolean, withinMs: number): Promise<boolean> => {
    const held = await kernel.runUntil(() => checker.violations.length > 0 || condition(), withinMs)
    if (checker.violations.length > 0) throw failing(checker.violations)
    return held
  }
  const random = kernel.random.fork('cluster')
  await run(cluster.allOwned, 20_000)
  cluster.workload.start(plan.faultsMs)
  drawRates(cluster.world, plan)
  strike(cluster.targets, kernel.now() + plan.faultsMs)
  await run(() => false, plan.faultsMs)
  const { nodes } = cluster.targets
  // A single node must restart: there is no other node to serve.
  const oneStaysDead = random.chance(0.5) && nodes.length > 1
  cluster.heal(oneStaysDead ? nodes[random.integer(nodes.length)] : undefined)
  if (!(await run(() => cluster.workload.finished() && cluster.allOwned(), LIVENESS_MS))) {
    throw failing([`I11: ${cluster.whatIsMissing()}`])
  }
  let settled = false
  void cluster.workload.settle().then(() => {
    settled = true
  })
  if (!(await run(() => settled, LIVENESS_MS))) throw failing([`I11: ${cluster.whatIsMissing()}`])
  if (!(await run(cluster.atRest, LIVENESS_MS))) throw failing([`I11: ${checker.unfinished().join(', ')}`])
  const { attestations, webhooks, ledgerLog } = cluster.world
  // Events that a break has lost are never delivered: the checker names them.
  const delivered = await run(() => attestations.isDone() && webhooks.isDone() && cluster.atRest(), LIVENESS_MS)
  // A client may have sent a last order meanwhile.
  if (!delivered && !(await run(cluster.atRest, LIVENESS_MS)))
    throw failing([`I11: ${checker.unfinished().join(', ')}`])
  await webhooks.atEnd(attestations.acknowledged)
  await run(() => ledgerLog.isDone(), PUBLISHED_WITHIN_MS)
  ledgerLog.atEnd()
  checker.atEnd()
  cluster.rowReplay?.atEnd()
  cluster.world.clients.atEnd()
  if (checker.violations.length > 0) throw failing(checker.violations)
  return kernel.end()
}

/** Started nodes, edges and clients, and the faults that can be applied to them. */
export function createCluster(kernel: Kernel, options: ClusterOptions) {
  const { plan } = options
  const nodeNames = named('node', plan.nodes)
  const spareNames = named('node', plan.nodes + plan.spares).slice(plan.nodes)
  const edgeNames = named('edge', plan.edges)
  const { breaks = {} } = options
  const database = new SimDatabase({ kernel, shardCount: SHARD_COUNT, broken: breaks.database })
  options.story?.watches(database)
  const network = createSimNetwork(kernel)
  const cutFromLeases = new Map<string, number>()
  const leases = createSimLeaseServer(
    kernel,
    undefined,
    (name) => network.reachable(name) && kernel.now() >= (cutFromLeases.get(name) ?? 0),
  )
  const startedAtMs = kernel.wallMs() - kernel.now()
  const verdicts = new Map<string, boolean>()
  const verifies = (publicKey: string, payload: string, signature: string): boolean => {
    const check = `${publicKey} ${signature} ${payload}`
    const known = verdicts.get(check)
    if (known !== undefined) return known
    const verdict = simVerify({ publicKey, payload, signature })
    verdicts.set(check, verdict)
    return verdict
  }
  const imports = new ImportBook()
  const homeOf = createHomes()
  const checker: LedgerChecker = new LedgerChecker(database, {
    ledgerId: LEDGER_ID,
    wallAt: (ms) => startedAtMs + ms,
    homeOf: (accountId) => homeOf({ kind: 'account', id: accountId }),
    verifies,
    receiptVerifies: (keyId, payload, signature) =>
      keyId === RECEIPT_KEY_ID && simVerify({ publicKey: simReceiptPublicKey(keyId), payload, signature }),
    wasOrdered: (payload, signature) => clients.wasOrdered(payload, signature),
    orderUnderKey: (operation, accountId, key, hash) => clients.orderUnderKey(operation, accountId, key, hash),
    imports,
  })
  const clients = new ClientChecker(checker, kernel, homeOf, options.injected !== undefined)
  const demand: Demand = (holds, broken) => checker.demand(holds, broken)
  const rowReplay =
    options.replaysRows === false
      ? undefined
      : new RowReplay(database, demand, { ledgerId: LEDGER_ID, homeOf, verifies, step: breaks.step ?? stepActor })
  const world: World = {
    kernel,
    database,
    rowReplay,
    ownership: new OwnershipWitness(database, demand),
    network,
    leases,
    checker,
    clients,
    attestations: new SimAttestations(database),
    webhooks: new SimWebhooks({ kernel, database, ledgerId: LEDGER_ID, breaks, demand }),
    ledgerLog: new SimLog({ kernel, database, breaks, demand }),
    imports,
    breaks,
    rareRates: new Map(),
    homeOf,
    injected: options.injected,
    wires: createClusterWires(kernel, options.wires ?? 'next_to_each_other'),
    story: options.story,
    onRefused: (name) => {
      const afterMs = supervisor.between(SUPERVISED_MS.from, SUPERVISED_MS.to)
      kernel.schedule(afterMs, `${name} is started again`, () => restart(name))
    },
  }
  const supervisor = kernel.random.fork('supervisor')
  const nodes = new Map<string, SimNode>(nodeNames.map((name) => [name, startNode(world, name)]))
  const edges = new Map<string, SimEdge>(edgeNames.map((name) => [name, startEdge(world, name)]))
  const workload = new Workload({
    world,
    random: kernel.random.fork('workload'),
    edges: () => [...edges.values()],
    accounts: plan.accounts,
    clients: plan.clients,
    requestsPerClient: plan.requestsPerClient,
    skipped: plan.skippedRequests,
    idle: plan.idleClients,
  })
  const processOf = (name: string) => nodes.get(name)?.process ?? edges.get(name)?.process
  let deadForGood: string | undefined
  let healed = false
  let lookedMs = 0
  /** Resets the clock to true time, as a synchronization does. */
  const setRight = (name: string): void => {
    const process = processOf(name)
    process?.setClock({ rate: 1, offsetMs: 0 })
    process?.setClock({ offsetMs: kernel.wallMs() - process.wallMs() })
  }
  const restart = (name: string): void => {
    if (processOf(name)?.alive() === true || name === deadForGood) return
    if (nodes.has(name)) nodes.set(name, startNode(world, name))
    else edges.set(name, startEdge(world, name))
  }
  const allOwned = (): boolean =>
    database.shards
      .records()
      .every(({ epoch, session, shardId }) =>
        [...nodes.values()].some(
          (node) =>
            node.process.alive() && node.session === session && node.host.serving().get(shardId)?.epoch === epoch,
        ),
      )
  return {
    world,
    rowReplay,
    workload,
    allOwned,
    targets: {
      world,
      plan,
      nodes: nodeNames,
      spares: spareNames,
      join: (name: string): void => {
        if (nodes.get(name)?.process.alive() === true) return
        kernel.count('fault:joined')
        nodes.set(name, startNode(world, name))
      },
      leave: (name: string): void => {
        const leaving = nodes.get(name)
        if (leaving?.process.alive() !== true) return
        kernel.count('fault:left')
        void leaving.node.stop().then(() => {
          leaving.process.exit()
          // The initial nodes must all run once the faults are over.
          if (healed && nodeNames.includes(name)) restart(name)
        })
      },
      shardCount: SHARD_COUNT,
      edges: edgeNames,
      crash: (name: string, restartAfterMs: number): void => {
        processOf(name)?.crash()
        kernel.schedule(restartAfterMs, `${name} is started again`, () => restart(name))
      },
      restart: (name: string, afterMs: number): void => {
        const leaving = nodes.get(name)
        if (leaving?.process.alive() !== true) return
        kernel.count('fault:restart')
        void leaving.node.stop().then(() => {
          leaving.process.exit()
          kernel.schedule(afterMs, `${name} is started again`, () => restart(name))
        })
      },
      pause: (name: string, durationMs: number): void => processOf(name)?.pause(durationMs),
      setClock: (name: string, rate: number, offsetMs: number): void => {
        kernel.count('fault:clock')
        processOf(name)?.setClock({ rate, offsetMs })
        kernel.schedule(CLOCK_BENT_MS, `${name} sets its clock`, () => setRight(name))
      },
      usurp: (name: string, shardId: number): void => {
        const node = nodes.get(name)
        if (node !== undefined) usurp(world, node, shardId)
      },
      cutFromLeases: (name: string, durationMs: number): void => {
        kernel.count('fault:cut_from_leases')
        cutFromLeases.set(name, kernel.now() + durationMs)
      },
    },
    /** Whether everything that began has ended; checked at intervals. */
    atRest: (): boolean => {
      if (kernel.now() < lookedMs + REST_POLL_MS) return false
      lookedMs = kernel.now()
      return checker.unfinished().length === 0
    },
    /** Ends all faults; the named node, if any, stays dead. */
    heal: (dead: string | undefined): void => {
      kernel.record(`${kernel.now()} heals`)
      endRates(world)
      world.webhooks.heal()
      world.ledgerLog.heal()
      world.attestations.heal()
      cutFromLeases.clear()
      deadForGood = dead
      healed = true
      const upgrades = world.wires.upgrade()
      for (const name of spareNames) {
        processOf(name)?.resume()
        setRight(name)
        if (upgrades) processOf(name)?.crash()
      }
      for (const name of [...nodeNames, ...edgeNames]) {
        const process = processOf(name)
        process?.resume()
        setRight(name)
        if (name === dead || upgrades) process?.crash()
        restart(name)
      }
      if (dead !== undefined) kernel.count('cluster:node_stays_dead')
    },
    whatIsMissing: (): string => {
      const owners = database.shards.records().map(({ shardId, epoch, nodeId }) => `${shardId}: ${nodeId} in ${epoch}`)
      return `shards ${allOwned() ? 'owned' : owners.join(', ')}; ${workload.pending()} requests without a verdict`
    },
  }
}

/** `node-a`, `node-b`, … */
function named(kind: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${kind}-${String.fromCodePoint(97 + index)}`)
}

function createHomes(): (actor: ActorAddress) => number {
  const homes = new Map<string, number>()
  return (actor) => {
    const key = actorKey(actor)
    const known = homes.get(key)
    if (known !== undefined) return known
    const home = createHash('sha256').update(key).digest().readUInt32BE(0) % SHARD_COUNT
    homes.set(key, home)
    return home
  }
}

function violation(kernel: Kernel, violations: readonly string[], whole: boolean): SimulationFailure {
  const lines = kernel.trace.lines()
  const tail = (whole ? lines : lines.slice(-SHOWN_LINES)).join('\n  ')
  const broken = violations.slice(0, 5).join('\n')
  return new SimulationFailure(
    `SIM_SEED=${kernel.seed} npm run sim\n${broken}\n  ${tail}`,
    violations.map(violationOf),
    kernel.end(),
  )
}
