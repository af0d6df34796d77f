/**
 * What goes wrong in a run, drawn from its seed: some kinds are switched off altogether and the others get a rate of
 * their own (swizzled), so that runs differ in kind and not only in number.
 */
import type { World } from './cluster-node.ts'
import type { SeededRandom } from './sim-random.ts'
import { CALM_LEASES } from './sim-lease-store.ts'
import { NO_STORE_FAULTS } from './sim-ledger-store-faults.ts'
import { CALM_NETWORK } from './sim-transport.ts'

/** What the fault driver may do to the cluster. */
export interface FaultTargets {
  readonly world: World
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

export function drawRates({ kernel, database, network, leases }: World, random: SeededRandom): void {
  const { faults } = database
  faults.commitRefused = swizzled(random, 0.05)
  faults.commitAppliedAnswerLost = swizzled(random, 0.1)
  faults.commitLostAnswerLost = swizzled(random, 0.1)
  faults.commitLate = swizzled(random, 0.05)
  faults.commitStuck = swizzled(random, 0.05)
  faults.commitAppliedWhenEnded = swizzled(random, 0.6)
  faults.leftConnectionEscapes = swizzled(random, 0.6)
  faults.slow = swizzled(random, 0.5)
  faults.lookUpSlow = swizzled(random, 0.7)
  faults.lookUpFails = swizzled(random, 0.1)
  faults.callLost = swizzled(random, 0.05)
  faults.callAnswerLost = swizzled(random, 0.05)
  network.setFaults({
    latencyMs: { min: 0.05, max: random.between(0.5, 5) },
    slow: swizzled(random, 0.1),
    slowMs: random.between(10, 3_000),
    loss: swizzled(random, 0.05),
    duplication: 0,
    deliveryDuplication: swizzled(random, 0.2),
    noResponders: swizzled(random, 0.05),
  })
  leases.setFaults({
    latencyMs: { min: 0.2, max: 10 },
    unavailable: swizzled(random, 0.2),
    ackLost: swizzled(random, 0.2),
    stale: swizzled(random, 0.3),
    staleMs: 5_000,
    hintLost: swizzled(random, 0.5),
  })
  kernel.record(`${kernel.now()} rates ${JSON.stringify(faults)}`)
}

/** Ends all rates; what is cut, paused or dead the cluster itself mends. */
export function endRates({ database, network, leases }: World): void {
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

const BLOWS: readonly [Blow, ...Blow[]] = [
  usurpAtRandom,
  ({ nodes, crash }, random) => crash(oneOf(nodes, random), random.between(50, 16_000)),
  ({ nodes, restart }, random) => restart(oneOf(nodes, random), random.between(50, 3_000)),
  ({ nodes, pause }, random) => pause(oneOf(nodes, random), pauseMs(random)),
  ({ edges, pause }, random) => pause(oneOf(edges, random), random.between(100, 8_000)),
  ({ edges, crash }, random) => crash(oneOf(edges, random), random.between(50, 2_000)),
  ({ nodes, cutFromLeases }, random) => cutFromLeases(oneOf(nodes, random), random.between(1_000, 30_000)),
  ({ nodes, setClock }, random) => setClock(oneOf(nodes, random), random.between(0.8, 1.2), random.between(-400, 400)),
  ({ world, nodes, edges }, random) => {
    const [from, to] = random.chance(0.5) ? [edges, nodes] : [nodes, edges]
    const [sender, receiver] = [oneOf(from, random), oneOf(to, random)]
    world.network.cut(sender, receiver, random.chance(0.5) ? 'lost' : 'no_responders')
    world.kernel.schedule(random.between(200, 6_000), `mends ${sender} to ${receiver}`, () =>
      world.network.mend(sender, receiver),
    )
  },
  ({ world, nodes, edges }, random) => {
    const name = oneOf([...nodes, ...edges], random)
    world.network.disconnect(name, random.between(10, 2_000))
    world.kernel.schedule(random.between(500, 8_000), `reconnects ${name}`, () => world.network.reconnect(name))
  },
  ({ world }, random) => world.leases.stopFor(random.between(500, 10_000)),
  ({ world }) => world.leases.empty(),
  ({ world }, random) => world.leases.rewind(random.between(1_000, 20_000)),
]

/** Lets another node take a shard in the very moment in which its owner commits. */
function usurpCommits(targets: FaultTargets, random: SeededRandom, untilMs: number): void {
  const { kernel, database } = targets.world
  const rate = swizzled(random, 0.08)
  database.onCommitStart((nodeId, shardIds) => {
    if (kernel.now() >= untilMs || !random.chance(rate)) return
    const rivals = targets.nodes.filter((name) => name !== nodeId)
    for (const shardId of shardIds) targets.usurp(oneOf(rivals, random), shardId)
  })
}

/** Strikes again and again until `untilMs`, each time something of the kinds that this run has. */
export function strike(targets: FaultTargets, random: SeededRandom, untilMs: number): void {
  const { kernel } = targets.world
  usurpCommits(targets, random.fork('usurpations'), untilMs)
  const kinds = BLOWS.filter(() => random.chance(0.5))
  const gapMs = random.between(300, 3_000)
  const next = (): void => {
    kernel.schedule(random.between(0, 2 * gapMs), 'a blow', () => {
      if (kernel.now() >= untilMs || kinds.length === 0) return
      const blow = kinds[random.integer(kinds.length)]
      blow?.(targets, random)
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
