/** Rare paths by chance: each has its own rate, and every use is counted. */
import { RARE_PATHS, type RarePath, type RarePaths } from '../../../runtime/ports/rare-paths.ts'
import type { SimProcess } from '../kernel/kernel-process.ts'
import type { Kernel } from '../kernel/kernel.ts'

/** Probability of each path whenever the code could take it; a path without a rate is never taken. */
export type RareRates = Map<RarePath, number>

/** The counter of a path. */
export function rareCounter(path: RarePath): string {
  return `rare:${path}`
}

export const RARE_COUNTERS: readonly string[] = RARE_PATHS.map(rareCounter)

/** For one incarnation. `rates` may change while it runs. */
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
