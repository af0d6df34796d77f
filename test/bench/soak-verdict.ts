/**
 * Whether a soak passed.
 *   S1. No process grows: in the last quarter of the time the median of what it holds is not above that of the second by
 *       more than a fifth and 50 MB. The first quarter is for filling up what has a bound.
 *   S2. No node keeps more actors than its configuration allows, beside those under way.
 */
import { NODE_DEFAULTS } from '../../runtime/node/ledger-node.ts'
import type { ProcessSample } from './soak-samples.ts'

export interface SoakVerdict {
  readonly passed: boolean
  readonly processes: readonly ProcessVerdict[]
}

export interface ProcessVerdict {
  readonly name: string
  readonly secondQuarterBytes: number
  readonly lastQuarterBytes: number
  readonly grows: boolean
  /** Of a node; null: of an edge. */
  readonly actors: ActorsVerdict | null
}

export interface ActorsVerdict {
  /** The most that were seen at a time. */
  readonly most: number
  /** What the configuration allows at that time. */
  readonly bound: number
  /** Whether there ever were more than that and what may have been under way. */
  readonly exceeded: boolean
}

type Sample = { readonly processes: readonly ProcessSample[] }

const MOST_GROWTH = 1.2
const MOST_GROWTH_BYTES = 50_000_000
/** What a commit touched stays until no look-up of before it is open: of one that is written, and one that was. */
const COMMITTING = 2 * NODE_DEFAULTS.maxBatchSize

/** Of samples at equal intervals, each of the same processes. Throws where there are fewer than one a quarter. */
export function judge(samples: readonly Sample[], actorsPerShard: number): SoakVerdict {
  const quarter = Math.floor(samples.length / 4)
  if (quarter < 1) throw new Error(`${samples.length} looks are too few to tell whether memory grows`)
  const names = samples[0]?.processes.map(({ name }) => name) ?? []
  const processes = names.map((name) => {
    const own = samples.flatMap((sample) => sample.processes.filter((process) => process.name === name))
    const bytes = own.map(({ residentBytes }) => residentBytes)
    const secondQuarterBytes = median(bytes.slice(quarter, 2 * quarter))
    const lastQuarterBytes = median(bytes.slice(-quarter))
    return {
      name,
      secondQuarterBytes,
      lastQuarterBytes,
      grows:
        lastQuarterBytes > secondQuarterBytes * MOST_GROWTH &&
        lastQuarterBytes - secondQuarterBytes > MOST_GROWTH_BYTES,
      actors: actorsVerdict(own, actorsPerShard),
    }
  })
  return { passed: processes.every(({ grows, actors }) => !grows && actors?.exceeded !== true), processes }
}

function actorsVerdict(samples: readonly ProcessSample[], actorsPerShard: number): ActorsVerdict | null {
  let most = { inMemory: -1, shards: 0 }
  let exceeded = false
  for (const { actors } of samples) {
    if (actors === null) return null
    if (actors.inMemory > most.inMemory) most = actors
    exceeded ||= actors.inMemory > actors.shards * actorsPerShard + actors.underWay + COMMITTING
  }
  return { most: most.inMemory, bound: most.shards * actorsPerShard, exceeded }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
}
