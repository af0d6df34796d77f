/**
 * What a run is made of: drawn from its seed, or made smaller, to find out how little of it still fails.
 * A run is given by its plan alone: the same plan is the same trace.
 */
import { createSeededRandom } from './sim-random.ts'

export interface Plan {
  readonly seed: number
  readonly nodes: number
  readonly edges: number
  readonly accounts: number
  readonly clients: number
  readonly requestsPerClient: number
  /** How long faults happen and clients ask, milliseconds of virtual time. */
  readonly faultsMs: number
  /** Kinds of faults that never happen, by their names in faults.ts. */
  readonly without: ReadonlySet<string>
  /** Blows that do not strike, by number from 0. */
  readonly sparedBlows: ReadonlySet<number>
}

export function planOf(seed: number): Plan {
  const random = createSeededRandom(seed).fork('plan')
  return {
    seed,
    nodes: random.pick([2, 2, 2, 3]),
    edges: random.pick([1, 2, 2]),
    accounts: random.pick([5, 8, 8, 10]),
    clients: random.pick([3, 6, 6, 8]),
    requestsPerClient: random.pick([10, 15, 15, 25]),
    faultsMs: random.between(4_000, 30_000),
    without: new Set(),
    sparedBlows: new Set(),
  }
}
