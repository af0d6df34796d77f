/** Goal: runs differ in kind and not only in number, and what is left out of one changes nothing else of it. */
import { describe, expect, test } from 'vitest'
import type { World } from './cluster-node.ts'
import type { FaultTargets } from './fault-blows.ts'
import { drawRates, endRates, FAULT_KINDS, strike } from './faults.ts'
import { createKernel } from './kernel.ts'
import { type Plan, planOf } from './plan.ts'
import { createSimLeaseServer, type LeaseFaults } from './sim-lease-store.ts'
import { SimDatabase } from './sim-ledger-store-database.ts'
import { createSimNetwork, type NetworkFaults } from './sim-transport.ts'
import { Cast, createStage, type Stage } from './workload-cast.ts'

const UNTIL_MS = 20_000

function worldOf(seed: number) {
  const kernel = createKernel({ seed, keepTrace: true })
  const drawn: { network?: NetworkFaults; leases?: LeaseFaults } = {}
  const network = createSimNetwork(kernel)
  const leases = createSimLeaseServer(kernel)
  const world = {
    kernel,
    database: new SimDatabase({ kernel, shardCount: 4 }),
    network: { ...network, setFaults: (faults: NetworkFaults) => void (drawn.network = faults) },
    leases: { ...leases, setFaults: (faults: LeaseFaults) => void (drawn.leases = faults) },
    rareRates: new Map(),
  } as unknown as World
  return { world, drawn }
}

/** By kind, of what has a rate. */
function ratesOf(
  seed: number,
  without: readonly string[] = [],
  harsh: readonly string[] = [],
): ReadonlyMap<string, number> {
  const { world, drawn } = worldOf(seed)
  drawRates(world, { ...planOf(seed), without: new Set(without), harsh: new Set(harsh) })
  const room = (name: string, rates: object): [string, number][] =>
    Object.entries(rates as Record<string, number>).map(([rate, value]) => [`${name}.${rate}`, value])
  const all = [
    ...room('store', world.database.faults),
    ...room('network', drawn.network ?? {}),
    ...room('leases', drawn.leases ?? {}),
    ...room('rare', Object.fromEntries(world.rareRates)),
  ]
  return new Map(all.filter(([kind]) => FAULT_KINDS.includes(kind)))
}

const SEEDS = Array.from({ length: 60 }, (_, index) => index + 1)

describe('rates', () => {
  test('each kind is there in some runs and not in others', () => {
    const runs = SEEDS.map((seed) => ratesOf(seed))
    const kinds = [...(runs[0]?.keys() ?? [])]
    expect(kinds.length).toBeGreaterThan(30)
    for (const kind of kinds) {
      const present = runs.filter((rates) => (rates.get(kind) ?? 0) > 0).length
      expect(present, kind).toBeGreaterThan(SEEDS.length / 5)
      expect(present, kind).toBeLessThan((SEEDS.length * 4) / 5)
    }
  })

  test('some runs are calm in all but one thing or two, which go wrong more often than in any other', () => {
    const runs = SEEDS.map((seed) => [...ratesOf(seed)].filter(([, rate]) => rate > 0))
    const singular = runs.filter((rates) => rates.length <= 2)
    expect(singular.length).toBeGreaterThan(3)
    expect(singular.length).toBeLessThan(SEEDS.length / 2)
    for (const [kind, rate] of singular.flat()) {
      const others = runs.filter((rates) => rates.length > 2).flat()
      const most = Math.max(...others.filter(([name]) => name === kind).map(([, usual]) => usual))
      expect(rate, kind).toBeGreaterThanOrEqual(most)
    }
  })

  test('a kind that is left out is calm, and no other changes', () => {
    for (const seed of [2, 3, 5]) {
      const whole = ratesOf(seed)
      for (const kind of whole.keys()) expect(ratesOf(seed, [kind])).toEqual(new Map([...whole, [kind, 0]]))
    }
  })

  test('a kind that is harsh is there in every run, and no other changes', () => {
    for (const seed of [2, 3, 5]) {
      const whole = ratesOf(seed)
      const harsh = ratesOf(seed, ['network.loss'], ['network.loss'])
      expect(harsh.get('network.loss')).toBeGreaterThan(0.3)
      expect(harsh).toEqual(new Map([...whole, ['network.loss', harsh.get('network.loss')]]))
    }
  })

  test('all end', () => {
    const { world, drawn } = worldOf(2)
    drawRates(world, planOf(2))
    world.database.far.set('node-a', 5)
    world.database.cutOff.add('node-a')
    endRates(world)
    const rates = [world.database.faults, drawn.leases, drawn.network].flatMap((faults) => Object.entries(faults ?? {}))
    const bounds = ['latencyMs', 'maxMessageBytes']
    expect(rates.filter(([name, rate]) => rate !== 0 && !bounds.includes(name))).toEqual([])
    expect(world.database.far.size + world.database.cutOff.size + world.rareRates.size).toBe(0)
  })
})

async function blowsOf(seed: number, changes: Partial<Plan> = {}): Promise<readonly string[]> {
  const { world } = worldOf(seed)
  const ignored = (): void => undefined
  const targets: FaultTargets = {
    world,
    plan: { ...planOf(seed), ...changes },
    nodes: ['node-a', 'node-b', 'node-c'],
    edges: ['edge-a'],
    shardCount: 4,
    spares: ['node-d'],
    join: ignored,
    leave: ignored,
    crash: ignored,
    restart: ignored,
    pause: ignored,
    setClock: ignored,
    usurp: ignored,
    cutFromLeases: ignored,
  }
  strike(targets, UNTIL_MS)
  await world.kernel.runFor(UNTIL_MS)
  return world.kernel.trace.lines().filter((line) => / blow \d+: /.test(line))
}

describe('blows', () => {
  test('one that is spared leaves all others where they were, and a kind that is left out too', async () => {
    let struck = 0
    for (const seed of SEEDS.slice(0, 12)) {
      const all = await blowsOf(seed)
      struck += all.length
      const first = all[0]
      if (first === undefined) continue
      expect(await blowsOf(seed, { sparedBlows: new Set([0]) })).toEqual(all.slice(1))
      const kind = first.slice(first.indexOf(': ') + 2)
      const rest = all.filter((line) => !line.endsWith(`: ${kind}`))
      expect(await blowsOf(seed, { without: new Set([`blow.${kind}`]) })).toEqual(rest)
    }
    expect(struck).toBeGreaterThan(50)
  })

  test('some come together', async () => {
    const runs: (readonly string[])[] = []
    for (const seed of SEEDS.slice(0, 12)) runs.push(await blowsOf(seed))
    const momentOf = (line: string): string => line.slice(0, line.indexOf(' '))
    expect(runs.some((lines) => new Set(lines.map(momentOf)).size < lines.length)).toBe(true)
  })
})

describe('clients', () => {
  test('what one draws is the same whoever else plays', () => {
    const { world } = worldOf(1)
    const stage: Stage = createStage(world, world.kernel.random.fork('workload'), 5)
    const castOf = (name: string): Cast => {
      const random = world.kernel.random.fork(`client ${name}`)
      return new Cast(stage, { name, random, ask: () => Promise.resolve(undefined), clockOffMs: 0 })
    }
    const draw = (cast: Cast): string => {
      const account = cast.pickAccount()
      return JSON.stringify(cast.submission(account, 'credit', { group_id: cast.groupId() }))
    }
    const alone = castOf('one')
    const expected = Array.from({ length: 20 }, () => draw(alone))
    const [one, other] = [castOf('one'), castOf('other')]
    const together = Array.from({ length: 20 }, () => [draw(other), draw(one)] as const)
    expect(together.map(([, drawn]) => drawn)).toEqual(expected)
    expect(new Set(together.flat()).size).toBe(40)
  })
})
