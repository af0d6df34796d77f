/**
 * The faults of a run, drawn from its seed. Some kinds are switched off and each other kind has a rate of its own, so
 * that runs differ in kind (swarm testing). Some runs have only one or two kinds, at high rates.
 */
import type { World } from './cluster-node.ts'
import { RARE_PATHS } from '../../../runtime/ports/rare-paths.ts'
import { BLOWS, type FaultTargets, oneOf } from './fault-blows.ts'
import type { Plan } from '../plan.ts'
import type { SeededRandom } from '../kernel/sim-random.ts'
import { CALM_LEASES } from './sim-lease-store.ts'
import { NO_STORE_FAULTS, type StoreFaults } from '../store/faults.ts'
import { CALM_NETWORK, DEFAULT_MAX_MESSAGE_BYTES } from './sim-transport.ts'

const STORE_MOST: Readonly<StoreFaults> = {
  commitRefused: 0.05,
  commitAppliedAnswerLost: 0.1,
  commitLostAnswerLost: 0.1,
  commitLate: 0.05,
  commitStuck: 0.05,
  commitDoubled: 0.2,
  commitAppliedWhenEnded: 0.6,
  leftConnectionEscapes: 0.6,
  slow: 0.5,
  lookUpSlow: 0.7,
  lookUpFails: 0.1,
  callLost: 0.05,
  callAnswerLost: 0.05,
}
const NETWORK_MOST = {
  slow: 0.1,
  overtaken: 0.05,
  loss: 0.05,
  damaged: 0.03,
  deliveryDuplication: 0.2,
  noResponders: 0.05,
}
const LEASES_MOST = { unavailable: 0.2, ackLost: 0.2, stale: 0.3, hintLost: 0.5, hintLate: 0.5 }
const RARE_MOST = 0.15
const USURPED_COMMIT_MOST = 0.08
/** The highest rate of a fault that is the only one. */
const ONLY_MOST = 0.5
/** The largest item and the largest message between shards fit, but few of them together. */
const SMALL_MESSAGE_BYTES = { from: 100_000, to: 300_000 }

/** Every kind of fault, by the name that excludes it in a plan. */
export const FAULT_KINDS: readonly string[] = [
  ...Object.keys(STORE_MOST).map((name) => `store.${name}`),
  ...Object.keys(NETWORK_MOST).map((name) => `network.${name}`),
  ...Object.keys(LEASES_MOST).map((name) => `leases.${name}`),
  ...RARE_PATHS.map((path) => `rare.${path}`),
  ...Object.keys(BLOWS).map((name) => `blow.${name}`),
  'network.smallMessages',
  'blow.together',
  'usurped_commit',
]

/** The mixture of faults in a run: many kinds at moderate rates, or one or two kinds only. */
interface Temper {
  readonly rate: (kind: string, most: number) => number
  readonly has: (kind: string) => boolean
  readonly isSingular: boolean
}

/** Each kind has a random stream of its own, so that excluding one does not change the others. */
function temperOf(random: SeededRandom, { without, harsh }: Plan): Temper {
  const isSingular = random.chance(0.2)
  const first = FAULT_KINDS[random.integer(FAULT_KINDS.length)] ?? ''
  const only = new Set([first, random.chance(0.5) ? first : (FAULT_KINDS[random.integer(FAULT_KINDS.length)] ?? first)])
  const has = (kind: string): boolean =>
    harsh.has(kind) || (!without.has(kind) && (isSingular ? only.has(kind) : random.fork(kind).chance(0.5)))
  const rate = (kind: string, most: number): number => {
    if (!has(kind)) return 0
    if (harsh.has(kind)) return Math.max(most, ONLY_MOST)
    const amount = random.fork(`${kind} rate`)
    return isSingular ? amount.between(most, Math.max(most, ONLY_MOST)) : amount.between(0, most)
  }
  return { rate, has, isSingular }
}

/** Kinds are named after their rates, `store.slow`, paths, `rare.batch_of_one`, and blows, `blow.crash`. */
export function drawRates({ kernel, database, network, leases, rareRates }: World, plan: Plan): void {
  const random = kernel.random.fork('rates')
  const temper = temperOf(kernel.random.fork('temper'), plan)
  if (temper.isSingular) kernel.count('fault:only_kind_or_two')
  const draw = <K extends string>(room: string, most: Readonly<Record<K, number>>): Record<K, number> => {
    const rates = Object.entries<number>(most).map(([name, limit]) => [name, temper.rate(`${room}.${name}`, limit)])
    return Object.fromEntries(rates) as Record<K, number>
  }
  Object.assign(database.faults, draw('store', { ...STORE_MOST }))
  network.setFaults({
    ...CALM_NETWORK,
    latencyMs: { min: 0.05, max: random.between(0.5, 5) },
    slowMs: random.between(10, 3_000),
    maxMessageBytes: temper.has('network.smallMessages')
      ? Math.floor(random.between(SMALL_MESSAGE_BYTES.from, SMALL_MESSAGE_BYTES.to))
      : DEFAULT_MAX_MESSAGE_BYTES,
    ...draw('network', NETWORK_MOST),
  })
  leases.setFaults({
    latencyMs: { min: 0.2, max: 10 },
    staleMs: 5_000,
    hintLateMs: 5_000,
    ...draw('leases', LEASES_MOST),
  })
  const paths = draw('rare', Object.fromEntries(RARE_PATHS.map((path) => [path, RARE_MOST])))
  for (const path of RARE_PATHS) rareRates.set(path, paths[path] ?? 0)
  kernel.record(`${kernel.now()} rates ${JSON.stringify([database.faults, paths])}`)
}

/** Ends all rates. The cluster itself repairs cut links and restarts paused or dead processes. */
export function endRates({ database, network, leases, rareRates }: World): void {
  rareRates.clear()
  Object.assign(database.faults, NO_STORE_FAULTS)
  database.far.clear()
  database.cutOff.clear()
  database.isFull = false
  database.recover()
  network.setFaults(CALM_NETWORK)
  network.heal()
  leases.setFaults(CALM_LEASES)
  leases.heal()
}

/** Lets another node take a shard at the moment at which its owner commits. */
function usurpCommits(targets: FaultTargets, random: SeededRandom, rate: number, untilMs: number): void {
  const { kernel, database } = targets.world
  database.onCommitStart((nodeId, shardIds) => {
    if (kernel.now() >= untilMs || !random.chance(rate)) return
    const rivals = targets.nodes.filter((name) => name !== nodeId)
    for (const shardId of shardIds) targets.usurp(oneOf(rivals, random), shardId)
  })
}

/** Applies blows until `untilMs`, each time one or several of the kinds of this run. */
export function strike(targets: FaultTargets, untilMs: number): void {
  const { world, plan } = targets
  const { kernel } = world
  const random = kernel.random.fork('blows')
  const everything = { ...plan, without: new Set<string>() }
  const temper = temperOf(kernel.random.fork('temper'), everything)
  const usurps = temperOf(kernel.random.fork('temper'), plan).rate('usurped_commit', USURPED_COMMIT_MOST)
  usurpCommits(targets, random.fork('usurpations'), usurps, untilMs)
  const kinds = Object.keys(BLOWS).filter((kind) => temper.has(`blow.${kind}`))
  const together = temper.has('blow.together') ? random.fork('together') : undefined
  const gapMs = random.between(300, temper.isSingular ? 1_000 : 3_000)
  let count = 0
  /** Returns whether the blow was applied. A skipped blow keeps its number and its stream. */
  const blow = (): boolean => {
    const stream = random.fork(`blow ${count}`)
    const kind = kinds[stream.integer(kinds.length)] ?? ''
    const isSpared = plan.without.has(`blow.${kind}`) || plan.sparedBlows.has(count)
    count += 1
    if (isSpared) return false
    kernel.count(`blow:${kind}`)
    kernel.record(`${kernel.now()} blow ${count - 1}: ${kind}`)
    BLOWS[kind]?.(targets, stream, untilMs)
    return true
  }
  const next = (): void => {
    kernel.schedule(random.between(0, 2 * gapMs), 'a blow', () => {
      if (kernel.now() >= untilMs || kinds.length === 0) return
      const more = together?.chance(0.25) === true && !plan.without.has('blow.together') ? 1 + together.integer(2) : 0
      let struck = 0
      for (let times = 0; times <= more; times += 1) if (blow()) struck += 1
      if (struck > 1) kernel.count('blow:together')
      next()
    })
  }
  next()
}
