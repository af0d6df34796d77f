/**
 * Whether a soak passed.
 *   S1. No process grows: the median of its memory in the last quarter of the time exceeds that of the second quarter by
 *       at most a fifth and 50 MB. Bounded caches fill up in the first quarter.
 *   S2. No node keeps more actors than its configuration allows, besides those in flight.
 */
import { NODE_DEFAULTS } from '../../../runtime/node/ledger-node.ts'
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
  /** For a node; null for an edge. */
  readonly actors: ActorsVerdict | null
}

export interface ActorsVerdict {
  /** The highest number seen at a time. */
  readonly most: number
  /** The limit by configuration at that time. */
  readonly bound: number
  /** Whether the number ever exceeded the limit plus the commands in flight. */
  readonly exceeded: boolean
}

type Sample = { readonly processes: readonly ProcessSample[] }

const MOST_GROWTH = 1.2
const MOST_GROWTH_BYTES = 50_000_000
/** The actors of a commit stay until earlier look-ups are closed: those of one batch in flight and of one before. */
const COMMITTING = 2 * NODE_DEFAULTS.maxBatchSize

/** From samples at equal intervals, each of the same processes. Throws if there are fewer than one a quarter. */
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
