/** Rare paths by chance: each has a rate of its own, and every one that is taken is counted. */
import { RARE_PATHS, type RarePath, type RarePaths } from '../../runtime/ports/rare-paths.ts'
import type { SimProcess } from './kernel-process.ts'
import type { Kernel } from './kernel.ts'

/** Probabilities each time that the code could take the path; what is not named is never taken. */
export type RareRates = Map<RarePath, number>

/** The counter of a path. */
export function rareCounter(path: RarePath): string {
  return `rare:${path}`
}

export const RARE_COUNTERS: readonly string[] = RARE_PATHS.map(rareCounter)

/** Of one incarnation. `rates` may change while it runs. */
export function createSimRarePaths(kernel: Kernel, process: SimProcess, rates: RareRates): RarePaths {
  const random = kernel.random.fork(`rare paths ${process.id}`)
  return {
    takes: (path) => {
      if (!random.chance(rates.get(path) ?? 0)) return false
      kernel.count(rareCounter(path))
      kernel.record(`${kernel.now()} ${process.id} takes a rare path: ${path}`)
      return true
    },
  }
}
