/**
 * What goes wrong in a run, drawn from its seed: some kinds are switched off altogether and the others get a rate of
 * their own (swizzled), so that runs differ in kind and not only in number.
 */
import type { World } from './cluster-node.ts'
import { RARE_PATHS } from '../../runtime/ports/rare-paths.ts'
import type { Plan } from './plan.ts'
import type { SeededRandom } from './sim-random.ts'
import { CALM_LEASES } from './sim-lease-store.ts'
import { NO_STORE_FAULTS, type StoreFaults } from './sim-ledger-store-faults.ts'
import { CALM_NETWORK } from './sim-transport.ts'

/** What the fault driver may do to the cluster. */
export interface FaultTargets {
  readonly world: World
  readonly plan: Plan
  readonly nodes: readonly string[]
  readonly edges: readonly string[]
  readonly shardCount: number
  readonly crash: (name: string, restartAfterMs: number) => void
  /** Leaves in order, and comes back. */
  readonly restart: (name: string, afterMs: number) => void
  readonly pause: (name: string, durationMs: number) => void
  readonly setClock: (name: string, rate: number, offsetMs: number) => void
  /** It takes a shard from whoever has it, as if it held the owner for dead: in the middle of anything. */
  readonly usurp: (name: string, shardId: number) => void
  /** Its session key and hints reach the store no more, and nothing else of it changes. */
  readonly cutFromLeases: (name: string, durationMs: number) => void
}

/** Half of all runs are spared this fault; the others get up to `most`. */
function swizzled(random: SeededRandom, most: number): number {
  return random.chance(0.5) ? random.between(0, most) : 0
}

const STORE_MOST: Readonly<StoreFaults> = {
  commitRefused: 0.05,
  commitAppliedAnswerLost: 0.1,
  commitLostAnswerLost: 0.1,
  commitLate: 0.05,
  commitStuck: 0.05,
  commitAppliedWhenEnded: 0.6,
  leftConnectionEscapes: 0.6,
  slow: 0.5,
  lookUpSlow: 0.7,
  lookUpFails: 0.1,
  callLost: 0.05,
  callAnswerLost: 0.05,
}
const NETWORK_MOST = { slow: 0.1, loss: 0.05, deliveryDuplication: 0.2, noResponders: 0.05 }
const LEASES_MOST = { unavailable: 0.2, ackLost: 0.2, stale: 0.3, hintLost: 0.5 }
const RARE_MOST = 0.15

/** Kinds are named after their rates, `store.slow`, paths, `rare.batch_of_one`, and blows, `blow.crash`. */
export function drawRates({ kernel, database, network, leases, rareRates }: World, plan: Plan): void {
  const random = kernel.random.fork('rates')
  // A stream each: what is left out changes nothing of the others.
  const draw = <K extends string>(room: string, most: Readonly<Record<K, number>>): Record<K, number> => {
    const rates = Object.entries<number>(most).map(([name, limit]) => {
      const kind = `${room}.${name}`
      return [name, plan.without.has(kind) ? 0 : swizzled(random.fork(kind), limit)]
    })
    return Object.fromEntries(rates) as Record<K, number>
  }
  Object.assign(database.faults, draw('store', { ...STORE_MOST }))
  network.setFaults({
    ...CALM_NETWORK,
    latencyMs: { min: 0.05, max: random.between(0.5, 5) },
    slowMs: random.between(10, 3_000),
    ...draw('network', NETWORK_MOST),
  })
  leases.setFaults({ latencyMs: { min: 0.2, max: 10 }, staleMs: 5_000, ...draw('leases', LEASES_MOST) })
  const paths = draw('rare', Object.fromEntries(RARE_PATHS.map((path) => [path, RARE_MOST])))
  for (const path of RARE_PATHS) rareRates.set(path, paths[path] ?? 0)
  kernel.record(`${kernel.now()} rates ${JSON.stringify([database.faults, paths])}`)
}

/** Ends all rates; what is cut, paused or dead the cluster itself mends. */
export function endRates({ database, network, leases, rareRates }: World): void {
  rareRates.clear()
  Object.assign(database.faults, NO_STORE_FAULTS)
  network.setFaults(CALM_NETWORK)
  network.heal()
  leases.setFaults(CALM_LEASES)
  leases.heal()
}

type Blow = (targets: FaultTargets, random: SeededRandom) => void

/** Takes shards to and fro, so that takeovers meet commits that are under way. */
const usurpAtRandom: Blow = ({ world, nodes, shardCount, usurp }, random) => {
  for (let times = random.integer(6); times >= 0; times -= 1) {
    world.kernel.schedule(random.between(0, 600), 'a takeover', () => {
      usurp(oneOf(nodes, random), random.integer(shardCount))
    })
  }
}

const BLOWS: Readonly<Record<string, Blow>> = {
  usurp: usurpAtRandom,
  crash: ({ nodes, crash }, random) => crash(oneOf(nodes, random), random.between(50, 16_000)),
  restart: ({ nodes, restart }, random) => restart(oneOf(nodes, random), random.between(50, 3_000)),
  pause: ({ nodes, pause }, random) => pause(oneOf(nodes, random), pauseMs(random)),
  pause_edge: ({ edges, pause }, random) => pause(oneOf(edges, random), random.between(100, 8_000)),
  crash_edge: ({ edges, crash }, random) => crash(oneOf(edges, random), random.between(50, 2_000)),
  cut_from_leases: ({ nodes, cutFromLeases }, random) =>
    cutFromLeases(oneOf(nodes, random), random.between(1_000, 30_000)),
  clock: ({ nodes, setClock }, random) =>
    setClock(oneOf(nodes, random), random.between(0.8, 1.2), random.between(-400, 400)),
  cut: ({ world, nodes, edges }, random) => {
    const [from, to] = random.chance(0.5) ? [edges, nodes] : [nodes, edges]
    const [sender, receiver] = [oneOf(from, random), oneOf(to, random)]
    world.network.cut(sender, receiver, random.chance(0.5) ? 'lost' : 'no_responders')
    world.kernel.schedule(random.between(200, 6_000), `mends ${sender} to ${receiver}`, () =>
      world.network.mend(sender, receiver),
    )
  },
  disconnect: ({ world, nodes, edges }, random) => {
    const name = oneOf([...nodes, ...edges], random)
    world.network.disconnect(name, random.between(10, 2_000))
    world.kernel.schedule(random.between(500, 8_000), `reconnects ${name}`, () => world.network.reconnect(name))
  },
  leases_stop: ({ world }, random) => world.leases.stopFor(random.between(500, 10_000)),
  leases_empty: ({ world }) => world.leases.empty(),
  leases_rewind: ({ world }, random) => world.leases.rewind(random.between(1_000, 20_000)),
}

/** Every kind of fault there is, by the name that a plan may leave it out by. */
export const FAULT_KINDS: readonly string[] = [
  ...Object.keys(STORE_MOST).map((name) => `store.${name}`),
  ...Object.keys(NETWORK_MOST).map((name) => `network.${name}`),
  ...Object.keys(LEASES_MOST).map((name) => `leases.${name}`),
  ...RARE_PATHS.map((path) => `rare.${path}`),
  ...Object.keys(BLOWS).map((name) => `blow.${name}`),
  'usurped_commit',
]

/** Lets another node take a shard in the very moment in which its owner commits. */
function usurpCommits(targets: FaultTargets, random: SeededRandom, untilMs: number): void {
  const { kernel, database } = targets.world
  const rate = targets.plan.without.has('usurped_commit') ? 0 : swizzled(random, 0.08)
  database.onCommitStart((nodeId, shardIds) => {
    if (kernel.now() >= untilMs || !random.chance(rate)) return
    const rivals = targets.nodes.filter((name) => name !== nodeId)
    for (const shardId of shardIds) targets.usurp(oneOf(rivals, random), shardId)
  })
}

/** Strikes again and again until `untilMs`, each time something of the kinds that this run has. */
export function strike(targets: FaultTargets, untilMs: number): void {
  const { world, plan } = targets
  const { kernel } = world
  const random = kernel.random.fork('blows')
  usurpCommits(targets, random.fork('usurpations'), untilMs)
  const kinds = Object.keys(BLOWS).filter(() => random.chance(0.5))
  const gapMs = random.between(300, 3_000)
  let count = 0
  const next = (): void => {
    kernel.schedule(random.between(0, 2 * gapMs), 'a blow', () => {
      if (kernel.now() >= untilMs || kinds.length === 0) return
      const kind = kinds[random.integer(kinds.length)] ?? ''
      const isSpared = plan.without.has(`blow.${kind}`) || plan.sparedBlows.has(count)
      if (!isSpared) BLOWS[kind]?.(targets, random.fork(`blow ${count}`))
      count += 1
      next()
    })
  }
  next()
}

/** 0.1 to 60 s, short ones far more often. */
function pauseMs(random: SeededRandom): number {
  return 100 * 600 ** (random.fraction() ** 1.5)
}

function oneOf(names: readonly string[], random: SeededRandom): string {
  return names[random.integer(names.length)] ?? ''
}
