/**
 * Blows: faults that start at a moment and end after a while. Each has a random stream of its own, so that leaving one
 * out does not change the others.
 */
import type { World } from './cluster-node.ts'
import type { Plan } from '../plan.ts'
import type { SeededRandom } from '../kernel/sim-random.ts'
import type { CutKind } from './sim-transport.ts'

/** The faults that the fault driver may apply to the cluster. */
export interface FaultTargets {
  readonly world: World
  readonly plan: Plan
  readonly nodes: readonly string[]
  readonly edges: readonly string[]
  readonly shardCount: number
  readonly crash: (name: string, restartAfterMs: number) => void
  /** Nodes that do not run from the start: they join when a cluster grows. */
  readonly spares: readonly string[]
  readonly join: (name: string) => void
  /** Drains and stops the node until it joins again. */
  readonly leave: (name: string) => void
  /** Drains and stops the node, and restarts it. */
  readonly restart: (name: string, afterMs: number) => void
  readonly pause: (name: string, durationMs: number) => void
  readonly setClock: (name: string, rate: number, offsetMs: number) => void
  /** Makes the node take a shard from its owner, as if it considered the owner dead. */
  readonly usurp: (name: string, shardId: number) => void
  /** The node's session key and hints no longer reach the store; nothing else changes. */
  readonly cutFromLeases: (name: string, durationMs: number) => void
}

/** Lasting effects end at `untilMs`. */
export type Blow = (targets: FaultTargets, random: SeededRandom, untilMs: number) => void

/**
 * Steps beyond the limit that makes a node not ready, in either direction, but within the range in which decisions stay
 * valid.
 */
const CLOCK_STEP_MS = { from: 600, to: 6_000 }
/** Servers of a network with routes between them. */
const MOST_SERVERS = 3

/** Moves shards back and forth, so that takeovers overlap commits in flight. */
const usurpAtRandom: Blow = ({ world, nodes, shardCount, usurp }, random) => {
  for (let times = random.integer(6); times >= 0; times -= 1) {
    world.kernel.schedule(random.between(0, 600), 'a takeover', () => {
      usurp(oneOf(nodes, random), random.integer(shardCount))
    })
  }
}

/** An event loop that stalls repeatedly: due events arrive late and in bursts. */
const stall: Blow = ({ world: { kernel }, nodes, pause }, random, untilMs) => {
  const name = oneOf(nodes, random)
  const endMs = Math.min(untilMs, kernel.now() + random.between(1_000, 10_000))
  const longestMs = random.between(20, 2_500)
  const next = (): void => {
    if (kernel.now() >= endMs) return
    kernel.count('fault:stall')
    const stallMs = random.between(5, longestMs)
    pause(name, stallMs)
    kernel.schedule(stallMs + random.between(1, 200), `${name} is held up again`, next)
  }
  next()
}

/** High latency between a node and the database for a while. */
const far: Blow = ({ world: { kernel, database }, nodes }, random) => {
  const name = oneOf(nodes, random)
  database.far.set(name, random.between(20, 1_500))
  kernel.schedule(random.between(500, 10_000), `${name} is near again`, () => database.far.delete(name))
}

/**
 * Cuts a node off from the database. The server ends its sessions after a while, although the node is alive. Often the
 * other nodes cannot reach the node either, so that every sign says that it is dead.
 */
const cutFromStore: Blow = ({ world: { kernel, database, network }, nodes }, random) => {
  const name = oneOf(nodes, random)
  const durationMs = random.between(1_000, 15_000)
  kernel.count('fault:cut_from_store')
  database.cutOff.add(name)
  kernel.schedule(random.between(100, 6_000), `database lets ${name} go`, () => {
    if (!database.cutOff.has(name)) return
    kernel.count('store:lock_let_go_of_living')
    database.connections.endNode(name)
  })
  kernel.schedule(durationMs, `${name} reaches the database again`, () => database.cutOff.delete(name))
  if (random.chance(0.4)) return
  kernel.count('fault:cut_from_store_and_nodes')
  for (const other of nodes.filter((one) => one !== name)) {
    network.cut(other, name, 'no_responders')
    kernel.schedule(durationMs, `mends ${other} to ${name}`, () => network.mend(other, name))
  }
}

/** The database's disk is full for a while. */
const fillDisk: Blow = ({ world: { kernel, database } }, random) => {
  database.isFull = true
  kernel.schedule(random.between(50, 8_000), 'ends the full disk', () => {
    database.isFull = false
  })
}

/** How long the ledger stops until an administrator has decided. */
const DECIDED_MS = { from: 500, to: 8_000 }
/** How much the standby lacks. */
const LAG_MS = { from: 50, to: 4_000 }

/** After a while the promoted server is accepted, or replaced by the lost server if it lacks commits of that server. */
function recoverLater({ world: { kernel, database } }: FaultTargets, random: SeededRandom, how: string): void {
  const { timeline } = database.server
  kernel.schedule(random.between(DECIDED_MS.from, DECIDED_MS.to), how, () => {
    if (database.server.timeline === timeline) database.recover()
  })
}

/** The database server is lost, and its synchronous standby is promoted. */
const failover: Blow = (targets, random) => {
  const { kernel, database } = targets.world
  if (!database.server.accepted) return
  kernel.count('fault:failover')
  database.promote()
  recoverLater(targets, random, 'an administrator accepts the server')
}

/**
 * A standby that lacks commits is promoted. Often no process remembers the commits, because all are restarted at that
 * time.
 */
const failoverLossy: Blow = (targets, random, untilMs) => {
  const { world, nodes, edges, crash } = targets
  const { kernel, database } = world
  const { accepted, timeline } = database.server
  if (!accepted) return
  const standby = database.standby()
  const committed = kernel.counted('node:commit')
  kernel.schedule(random.between(LAG_MS.from, LAG_MS.to), 'the server is lost', () => {
    if (kernel.now() >= untilMs || database.server.timeline !== timeline) return
    if (kernel.counted('node:commit') > committed) kernel.count('fault:failover_lossy')
    database.promote(standby)
    if (random.chance(0.6)) {
      kernel.count('fault:failover_forgotten')
      for (const name of [...nodes, ...edges]) crash(name, random.between(50, 1_500))
    }
    recoverLater(targets, random, 'the server that was lost is back')
  })
}

/** Pauses a node and crashes the node that should replace it. */
const crashWhilePaused: Blow = ({ world: { kernel }, nodes, pause, crash }, random) => {
  const paused = oneOf(nodes, random)
  const others = nodes.filter((name) => name !== paused)
  kernel.count('fault:crash_while_paused')
  pause(paused, random.between(500, 20_000))
  const crashed = oneOf(others, random)
  const restartAfterMs = random.between(50, 16_000)
  kernel.schedule(random.between(0, 400), `${crashed} crashes too`, () => crash(crashed, restartAfterMs))
}

const crashAll: Blow = ({ world: { kernel }, nodes, edges, crash }, random) => {
  kernel.count('fault:crash_all')
  const names = random.chance(0.3) ? [...nodes, ...edges] : nodes
  for (const name of names) crash(name, random.between(50, 5_000))
}

/** The cluster grows by all its spare nodes, then shrinks to its former size or below. */
const scale: Blow = ({ world: { kernel }, nodes, spares, join, leave }, random, untilMs) => {
  kernel.count('fault:scaled')
  const at = (name: string, what: string, afterMs: number, run: (name: string) => void): void => {
    kernel.schedule(afterMs, `${name} ${what}`, () => {
      if (kernel.now() < untilMs) run(name)
    })
  }
  for (const name of spares) at(name, 'joins', random.between(0, 2_000), join)
  const shrinksMs = random.between(2_000, 15_000)
  const leaving = [...spares, ...nodes].filter(() => random.chance(0.6)).slice(0, spares.length + nodes.length - 1)
  for (const name of leaving) at(name, 'leaves', shrinksMs + random.between(0, 500), leave)
}

/** An administrator drains a node or a shard, and later cancels that. */
const drainNode: Blow = ({ world: { kernel, database }, nodes }, random) => {
  const name = oneOf(nodes, random)
  kernel.count('fault:node_drained')
  database.drains.nodes.add(name)
  kernel.schedule(random.between(500, 15_000), `${name} is to be drained no more`, () => {
    database.drains.nodes.delete(name)
  })
}

const drainShard: Blow = ({ world: { kernel, database }, shardCount }, random) => {
  const shardId = random.integer(shardCount)
  const { nodeId } = database.shards.row(shardId)
  if (nodeId === null) return
  kernel.count('fault:shard_drained')
  database.drains.shards.set(shardId, nodeId)
  kernel.schedule(random.between(500, 15_000), `shard ${shardId} is to be drained no more`, () => {
    database.drains.shards.delete(shardId)
  })
}

/** Restarts the nodes one after another, without waiting until the previous one is ready. */
const rollingRestart: Blow = ({ world: { kernel }, nodes, restart }, random, untilMs) => {
  kernel.count('fault:rolling_restart')
  const gapMs = random.between(500, 6_000)
  nodes.forEach((name, turn) => {
    const afterMs = random.between(50, 2_000)
    kernel.schedule(turn * gapMs, `${name} is restarted in turn`, () => {
      if (kernel.now() < untilMs) restart(name, afterMs)
    })
  })
}

function cutBetween(
  { world: { kernel, network } }: FaultTargets,
  random: SeededRandom,
  from: string,
  to: string,
): void {
  network.cut(from, to, cutKind(random))
  kernel.schedule(random.between(200, 6_000), `mends ${from} to ${to}`, () => network.mend(from, to))
}

function cutKind(random: SeededRandom): CutKind {
  return random.chance(0.5) ? 'lost' : 'no_responders'
}

/** The lease server of each process: the same throughout a run. */
function serversOf({ world: { kernel }, nodes, edges }: FaultTargets): ReadonlyMap<string, number> {
  const random = kernel.random.fork('servers')
  const count = 2 + random.integer(MOST_SERVERS - 1)
  return new Map([...nodes, ...edges].map((name) => [name, random.fork(name).integer(count)]))
}

/**
 * One server loses its routes to the others, in one direction or both. It has no majority of the lease store's servers;
 * with two servers neither has one.
 */
const partition: Blow = (targets, random) => {
  const { kernel, network, leases } = targets.world
  const servers = serversOf(targets)
  const used = [...new Set(servers.values())]
  const lonely = used[random.integer(used.length)]
  const names = [...servers.keys()]
  const inside = names.filter((name) => servers.get(name) === lonely)
  const outside = names.filter((name) => servers.get(name) !== lonely)
  if (outside.length === 0) return
  const durationMs = random.between(500, 20_000)
  const ways = random.pick(['both', 'both', 'out', 'in'] as const)
  const kind = cutKind(random)
  for (const near of inside) {
    for (const distant of outside) {
      const cuts = [ways === 'in' ? [] : [[near, distant] as const], ways === 'out' ? [] : [[distant, near] as const]]
      for (const [from, to] of cuts.flat()) {
        network.cut(from, to, kind, 'fault:parted')
        kernel.schedule(durationMs, `joins ${from} to ${to}`, () => network.mend(from, to))
      }
    }
  }
  const reads = random.pick(['fail', 'stale'] as const)
  leases.loseQuorumFor(durationMs, reads, used.length === 2 ? undefined : new Set(inside))
}

export const BLOWS: Readonly<Record<string, Blow>> = {
  usurp: usurpAtRandom,
  crash: ({ nodes, crash }, random) => crash(oneOf(nodes, random), random.between(50, 16_000)),
  crash_all: crashAll,
  crash_while_paused: crashWhilePaused,
  restart: ({ nodes, restart }, random) => restart(oneOf(nodes, random), random.between(50, 3_000)),
  rolling_restart: rollingRestart,
  scale,
  drain_node: drainNode,
  drain_shard: drainShard,
  pause: ({ nodes, pause }, random) => pause(oneOf(nodes, random), pauseMs(random)),
  stall,
  far,
  pause_edge: ({ edges, pause }, random) => pause(oneOf(edges, random), random.between(100, 16_000)),
  crash_edge: ({ edges, crash }, random) => crash(oneOf(edges, random), random.between(50, 2_000)),
  cut_from_store: cutFromStore,
  fill_disk: fillDisk,
  failover,
  failover_lossy: failoverLossy,
  cut_from_leases: ({ nodes, cutFromLeases }, random) =>
    cutFromLeases(oneOf(nodes, random), random.between(1_000, 30_000)),
  clock: ({ nodes, setClock }, random) =>
    setClock(oneOf(nodes, random), random.between(0.8, 1.2), random.between(-400, 400)),
  clock_step: ({ world, nodes, edges, setClock }, random) => {
    world.kernel.count('fault:clock_step')
    const byMs = random.between(CLOCK_STEP_MS.from, CLOCK_STEP_MS.to)
    setClock(oneOf(random.chance(0.8) ? nodes : edges, random), 1, random.chance(0.5) ? byMs : -byMs)
  },
  cut: (targets, random) => {
    const { nodes, edges } = targets
    const [from, to] = random.chance(0.5) ? [edges, nodes] : [nodes, edges]
    cutBetween(targets, random, oneOf(from, random), oneOf(to, random))
  },
  cut_nodes: (targets, random) => {
    const from = oneOf(targets.nodes, random)
    const others = targets.nodes.filter((name) => name !== from)
    targets.world.kernel.count('fault:cut_between_nodes')
    cutBetween(targets, random, from, oneOf(others, random))
  },
  partition,
  disconnect: ({ world, nodes, edges }, random) => {
    const name = oneOf([...nodes, ...edges], random)
    world.network.disconnect(name, random.between(10, 2_000))
    world.kernel.schedule(random.between(500, 8_000), `reconnects ${name}`, () => world.network.reconnect(name))
  },
  leases_stop: ({ world }, random) => world.leases.stopFor(random.between(500, 10_000)),
  leases_quorum: ({ world }, random) =>
    world.leases.loseQuorumFor(random.between(500, 20_000), random.pick(['fail', 'stale', 'stale'] as const)),
  leases_empty: ({ world }) => world.leases.empty(),
  leases_rewind: ({ world }, random) => world.leases.rewind(random.between(1_000, 20_000)),
}

/** 0.1 to 60 s; short pauses are far more frequent. */
function pauseMs(random: SeededRandom): number {
  return 100 * 600 ** (random.fraction() ** 1.5)
}

export function oneOf(names: readonly string[], random: SeededRandom): string {
  return names[random.integer(names.length)] ?? ''
}
