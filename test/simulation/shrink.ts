/**
 * Looks for the least that still fails as a run did: fewer kinds of faults, fewer blows, fewer and shorter parts of
 * everything (delta debugging: A. Zeller, R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002).
 *   S1. What it gives fails with the same first violation, by name, as what it was given.
 *   S2. It is bounded in runs and in time: the shortest so far is what it gives.
 * A run made smaller is another run: chance falls differently. So cuts that once did not fail are tried again.
 */
import { ATTACKER, BRINGER, type Plan, type PlanSet, type PlanSize, REMOVER } from './plan.ts'
import type { Attempt } from './runner-attempt.ts'

export interface Shrinking {
  readonly plan: Plan
  readonly failure: Attempt
  readonly faultKinds: readonly string[]
  readonly run: (plan: Plan) => Promise<Attempt>
  readonly maxRuns: number
  /** Whether there is no more time. */
  readonly isLate: () => boolean
  readonly onProgress?: (runs: number, steps: number) => void
}

export interface Shrunk {
  readonly plan: Plan
  readonly failure: Attempt
  readonly runs: number
}

/** What a run cannot do without. */
const LEAST: Readonly<Record<PlanSize, number>> = {
  nodes: 1,
  spares: 1,
  edges: 1,
  accounts: 2,
  clients: 1,
  requestsPerClient: 1,
  faultsMs: 200,
}

/** A run with fewer kinds of faults is worth so many more steps. */
const SIMPLER_IS_WORTH = 1.1

/** Rounds of cuts, coarse ones first: a part of so many is the smallest that is tried. Infinity: single ones. */
const FIRST_PARTS = 8

export async function shrink(shrinking: Shrinking): Promise<Shrunk> {
  const search = new Search(shrinking)
  await search.round(FIRST_PARTS)
  for (let before = Infinity; search.best.failure.end.steps < before && !search.isOver();) {
    before = search.best.failure.end.steps
    await search.round(Infinity)
  }
  return { ...search.best, runs: search.runs }
}

class Search {
  best: { readonly plan: Plan; readonly failure: Attempt }
  runs = 0
  private readonly shrinking: Shrinking

  constructor(shrinking: Shrinking) {
    this.shrinking = shrinking
    this.best = { plan: shrinking.plan, failure: shrinking.failure }
  }

  isOver(): boolean {
    return this.runs >= this.shrinking.maxRuns || this.shrinking.isLate()
  }

  /** Of the best run, the spared ones included. */
  private blows(): number {
    const { counters } = this.best.failure.end
    const struck = [...counters].filter(([name]) => name.startsWith('blow:')).reduce((sum, [, count]) => sum + count, 0)
    return struck + this.best.plan.sparedBlows.size
  }

  /** What clients asked in the best run, and what they would have. */
  private asked(): number {
    return this.best.failure.end.counters.get('client:asked') ?? 0
  }

  async round(parts: number): Promise<void> {
    await this.leaveOut('idleClients', [BRINGER, REMOVER, ATTACKER, ...numbersBelow(this.best.plan.clients)], parts)
    await this.leaveOut('without', this.shrinking.faultKinds, parts)
    await this.sizes()
    await this.leaveOut('sparedBlows', numbersBelow(this.blows()), parts)
    await this.leaveOut('skippedRequests', numbersBelow(this.asked()).reverse(), parts)
  }

  /** Halves what can be halved, each as often as it helps. */
  private async sizes(): Promise<void> {
    const cuts: readonly (readonly PlanSize[])[] = [
      ['faultsMs', 'requestsPerClient'],
      ['requestsPerClient'],
      ['clients'],
      ['faultsMs'],
      ['accounts'],
      ['edges'],
      ['nodes'],
    ]
    for (const cut of cuts) {
      for (const part of [0.25, 0.5, 0.75]) {
        while (await this.keeps(smaller(this.best.plan, cut, part))) {
          // Again, from what is left.
        }
      }
    }
  }

  /** Adds to what the plan leaves out: all, then halves, quarters and single ones, as far as it still fails. */
  private async leaveOut(which: PlanSet, all: readonly (string | number)[], parts: number): Promise<void> {
    const outOf = (): ReadonlySet<string | number> => this.best.plan[which]
    let size = all.length
    const smallest = Math.max(1, Math.ceil(all.length / parts))
    while (size >= smallest && !this.isOver()) {
      const left = all.filter((one) => !outOf().has(one))
      for (let from = 0; from < left.length && !this.isOver(); from += size) {
        const plan = { ...this.best.plan, [which]: new Set([...outOf(), ...left.slice(from, from + size)]) } as Plan
        await this.keeps(plan, which === 'without' ? SIMPLER_IS_WORTH : 1)
      }
      size = size === 1 ? 0 : Math.ceil(size / 2)
    }
  }

  /** Runs it, and takes it for the best if it fails alike in no more steps. */
  private async keeps(plan: Plan | undefined, worth = 1): Promise<boolean> {
    if (plan === undefined || this.isOver()) return false
    this.runs += 1
    const failure = await this.shrinking.run(plan)
    const { steps } = this.best.failure.end
    const isAlike = failure.violations[0]?.name === this.shrinking.failure.violations[0]?.name
    const isKept = isAlike && failure.end.steps <= steps * worth
    if (isKept) this.best = { plan, failure }
    this.shrinking.onProgress?.(this.runs, this.best.failure.end.steps)
    return isKept
  }
}

/** undefined when there is nothing left to cut. */
function smaller(plan: Plan, sizes: readonly PlanSize[], part: number): Plan | undefined {
  const cut = { ...plan }
  let isSmaller = false
  for (const size of sizes) {
    const value = Math.max(LEAST[size], Math.floor(plan[size] * part))
    isSmaller ||= value < plan[size]
    Object.assign(cut, { [size]: value })
  }
  return isSmaller ? cut : undefined
}

function numbersBelow(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}
