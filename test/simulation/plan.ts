/**
 * What a run is made of: drawn from its seed, or made smaller, to find out how little of it still fails.
 * A run is given by its plan alone: the same plan is the same trace.
 */
import { createSeededRandom } from './sim-random.ts'

export interface Plan {
  readonly seed: number
  readonly nodes: number
  /** Nodes that join when the cluster grows. */
  readonly spares: number
  readonly edges: number
  readonly accounts: number
  readonly clients: number
  readonly requestsPerClient: number
  /** How long faults happen and clients ask, milliseconds of virtual time. */
  readonly faultsMs: number
  /** Kinds of faults that never happen, by their names in faults.ts. */
  readonly without: ReadonlySet<string>
  /** Kinds of faults with a rate that happen as often as in a run that has no others, whatever is left out. */
  readonly harsh: ReadonlySet<string>
  /** Blows that do not strike, by number from 0. */
  readonly sparedBlows: ReadonlySet<number>
  /** Clients that do not play, by number from 0. */
  readonly idleClients: ReadonlySet<number>
  /** What clients would ask and do not, by number from 0. */
  readonly skippedRequests: ReadonlySet<number>
}

/** The client numbers of the client that imports accounts, the one that removes accounts, and the hostile one. */
export const BRINGER = 1_000
export const REMOVER = 1_001
export const ATTACKER = 1_002

export function planOf(seed: number): Plan {
  const random = createSeededRandom(seed).fork('plan')
  return {
    seed,
    nodes: random.pick([1, 2, 2, 2, 3]),
    spares: random.pick([1, 2, 4]),
    edges: random.pick([1, 2, 2]),
    accounts: random.pick([5, 8, 8, 10]),
    clients: random.pick([3, 6, 6, 8]),
    requestsPerClient: random.pick([10, 15, 15, 25]),
    faultsMs: random.between(4_000, 30_000),
    without: new Set(),
    harsh: new Set(),
    sparedBlows: new Set(),
    idleClients: new Set(),
    skippedRequests: new Set(),
  }
}

const SIZES = ['nodes', 'spares', 'edges', 'accounts', 'clients', 'requestsPerClient', 'faultsMs'] as const
const NUMBERS = ['sparedBlows', 'idleClients', 'skippedRequests'] as const
export type PlanSet = 'without' | (typeof NUMBERS)[number]
export type PlanSize = (typeof SIZES)[number]

/**
 * What a plan has that its seed's own has not, as JSON. Empty sets and equal sizes are left out; where fewer kinds of
 * faults stay than go, those that stay are named.
 */
export function writePlan(plan: Plan, faultKinds: readonly string[]): string {
  const own = planOf(plan.seed)
  const changes: [string, unknown][] = []
  for (const size of SIZES) if (plan[size] !== own[size]) changes.push([size, plan[size]])
  if (plan.without.size > 0) {
    const left = faultKinds.filter((kind) => !plan.without.has(kind))
    changes.push(left.length < plan.without.size ? ['only', left] : ['without', [...plan.without].toSorted()])
  }
  if (plan.harsh.size > 0) changes.push(['harsh', [...plan.harsh].toSorted()])
  for (const name of NUMBERS) if (plan[name].size > 0) changes.push([name, rangesOf(plan[name])])
  return JSON.stringify(Object.fromEntries(changes))
}

/** The plan that `writePlan` wrote; a sentence if the text is none. */
export function readPlan(seed: number, text: string, faultKinds: readonly string[]): Plan | string {
  const differs = parsed(text)
  if (differs === undefined) return 'SIM_PLAN is no JSON object'
  const changes: [string, number | ReadonlySet<number | string>][] = []
  for (const [name, value] of Object.entries(differs)) {
    const change = changeOf(name, value, faultKinds)
    if (typeof change === 'string') return `SIM_PLAN: ${change}`
    changes.push(change)
  }
  return { ...planOf(seed), ...(Object.fromEntries(changes) as Partial<Plan>) }
}

function changeOf(
  name: string,
  value: unknown,
  faultKinds: readonly string[],
): [string, number | ReadonlySet<number | string>] | string {
  if (SIZES.some((size) => size === name)) {
    const isFit = typeof value === 'number' && value > 0 && value <= LARGEST_NUMBER
    return isFit ? [name, value] : `${name} is a number above 0`
  }
  if (NUMBERS.some((known) => known === name)) {
    const numbers = numbersOf(value)
    return numbers === undefined ? `${name} is a list of numbers and ranges, [1, "3-7"]` : [name, numbers]
  }
  if (name !== 'without' && name !== 'only' && name !== 'harsh') return `there is no ${name}`
  if (!Array.isArray(value) || !value.every((kind) => faultKinds.includes(String(kind)))) {
    return `${name} is a list of kinds of faults: ${faultKinds.join(', ')}`
  }
  const named = new Set(value.map(String))
  if (name !== 'only') return [name, named]
  return ['without', new Set(faultKinds.filter((kind) => !named.has(kind)))]
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** `[1, "3-7"]`: both ends belong to a range. */
function rangesOf(numbers: ReadonlySet<number>): readonly (number | string)[] {
  const runs: { from: number; to: number }[] = []
  for (const number of [...numbers].toSorted((left, right) => left - right)) {
    const last = runs.at(-1)
    if (last?.to === number - 1) last.to = number
    else runs.push({ from: number, to: number })
  }
  return runs.map(({ from, to }) => (from === to ? from : `${from}-${to}`))
}

/** Above this a range is a slip of the hand. */
const LARGEST_NUMBER = 100_000

function numbersOf(value: unknown): ReadonlySet<number> | undefined {
  if (!Array.isArray(value)) return undefined
  const numbers = new Set<number>()
  for (const one of value) {
    const range = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(String(one))
    const [from, to] = [Number(range?.[1] ?? NaN), Number(range?.[2] ?? range?.[1] ?? NaN)]
    if (!(from <= to && to < LARGEST_NUMBER)) return undefined
    for (let number = from; number <= to; number += 1) numbers.add(number)
  }
  return numbers
}
