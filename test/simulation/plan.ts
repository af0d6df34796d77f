/**
 * The plan of a run: drawn from its seed, or reduced to find out how little of it still fails. A run depends on its
 * plan alone: the same plan gives the same trace.
 */
import { createSeededRandom } from './kernel/sim-random.ts'

export interface Plan {
  readonly seed: number
  readonly nodes: number
  /** Nodes that join when the cluster grows. */
  readonly spares: number
  readonly edges: number
  readonly accounts: number
  readonly clients: number
  readonly requestsPerClient: number
  /** Duration of faults and clients' requests, milliseconds of virtual time. */
  readonly faultsMs: number
  /** Kinds of faults that never happen, by their names in faults.ts. */
  readonly without: ReadonlySet<string>
  /** Kinds of faults that occur as often as in a run that has no others. */
  readonly harsh: ReadonlySet<string>
  /** Skipped blows, by number from 0. */
  readonly sparedBlows: ReadonlySet<number>
  /** Idle clients, by number from 0. */
  readonly idleClients: ReadonlySet<number>
  /** Skipped requests, by number from 0. */
  readonly skippedRequests: ReadonlySet<number>
}

/** Client numbers: imports accounts, removes accounts, attacks, asks for dry runs, and uses holds. */
export const IMPORTER = 1_000
export const REMOVER = 1_001
export const ATTACKER = 1_002
export const REHEARSER = 1_003
export const HOLDER = 1_004

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

/** The plan's differences from its seed's own plan, as JSON: sizes, and sets as lists. */
export function writePlan(plan: Plan): string {
  const own = Object.entries(planOf(plan.seed))
  const changes = Object.entries(plan).filter(([name, value]) =>
    own.some(([known, before]) => known === name && (value instanceof Set ? value.size > 0 : value !== before)),
  )
  return JSON.stringify(Object.fromEntries(changes), (_, value: unknown) => (value instanceof Set ? [...value] : value))
}

/** The plan that `writePlan` wrote; an error text if the text is not a plan. */
export function readPlan(seed: number, text: string): Plan | string {
  const own = planOf(seed)
  const known: Readonly<Record<string, unknown>> = { ...own }
  const changes: Record<string, unknown> = {}
  try {
    for (const [name, value] of Object.entries(JSON.parse(text) as Record<string, unknown>)) {
      const before = known[name]
      const isList = before instanceof Set
      if (isList ? !Array.isArray(value) : typeof value !== typeof before) return `SIM_PLAN has no such ${name}`
      changes[name] = isList ? new Set(value as readonly unknown[]) : value
    }
  } catch {
    return 'SIM_PLAN is not a JSON object'
  }
  return { ...own, ...changes }
}
