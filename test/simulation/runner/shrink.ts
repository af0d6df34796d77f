/**
 * Looks for a smaller plan with the same failure: fewer kinds of faults, fewer blows, fewer clients, shorter phases
 * (delta debugging: A. Zeller, R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002).
 *   S1. The result fails with the same first violation, by name, as the original plan.
 *   S2. It is bounded in runs and in time, and returns the shortest plan so far.
 * A smaller run draws other random numbers, so cuts that failed to reproduce once are tried again.
 */
import { ATTACKER, IMPORTER, type Plan, REHEARSER, REMOVER } from '../plan.ts'
import type { Attempt } from './runner-attempt.ts'

export interface Shrinking {
  readonly plan: Plan
  readonly failure: Attempt
  readonly faultKinds: readonly string[]
  readonly run: (plan: Plan) => Promise<Attempt>
  readonly maxRuns: number
  /** Whether the time is up. */
  readonly isLate: () => boolean
}

export interface Shrunk {
  readonly plan: Plan
  readonly failure: Attempt
  readonly runs: number
}

/** Sizes that are halved together, with their lower bounds. */
const CUTS: readonly Partial<Plan>[] = [
  { faultsMs: 200, requestsPerClient: 1 },
  { requestsPerClient: 1 },
  { clients: 1 },
  { faultsMs: 200 },
  { accounts: 2 },
  { edges: 1 },
  { nodes: 1 },
]

export async function shrink(shrinking: Shrinking): Promise<Shrunk> {
  let best = { plan: shrinking.plan, failure: shrinking.failure }
  let runs = 0
  const isOver = (): boolean => runs >= shrinking.maxRuns || shrinking.isLate()
  /** Runs the changed plan; it becomes the best if it fails alike in no more steps. */
  const keeps = async (changes: object): Promise<boolean> => {
    if (isOver()) return false
    runs += 1
    const plan = { ...best.plan, ...changes }
    const failure = await shrinking.run(plan)
    const isAlike = failure.violations[0]?.name === shrinking.failure.violations[0]?.name
    // Fewer kinds of faults are worth some more steps.
    const most = best.failure.end.steps * ('without' in changes ? 1.1 : 1)
    const isKept = isAlike && failure.end.steps <= most
    if (isKept) best = { plan, failure }
    return isKept
  }
  const cut = async (least: Partial<Plan>, part: number): Promise<boolean> => {
    const smaller = Object.entries(least).map(([name, value]) => {
      const before = Number(best.plan[name as keyof Plan])
      return [name, Math.max(Number(value), Math.floor(before * part)), before] as const
    })
    const isSmaller = smaller.some(([, value, before]) => value < before)
    return isSmaller && (await keeps(Object.fromEntries(smaller)))
  }
  /**
   * Leaves out more of the plan: all, then halves, quarters and so on down to `smallest`, as long as it fails alike.
   */
  const leaveOut = async (which: keyof Plan, all: readonly unknown[], smallest: number): Promise<void> => {
    const out = (): ReadonlySet<unknown> => best.plan[which] as ReadonlySet<unknown>
    for (let size = all.length; size >= Math.max(1, smallest) && !isOver(); size = size > 1 ? Math.ceil(size / 2) : 0) {
      const left = all.filter((one) => !out().has(one))
      for (let from = 0; from < left.length; from += size) {
        await keeps({ [which]: new Set([...out(), ...left.slice(from, from + size)]) })
      }
    }
  }
  /** `parts`: the smallest part to try is one in so many. */
  const round = async (parts: number): Promise<void> => {
    const clients = [IMPORTER, REMOVER, ATTACKER, REHEARSER, ...Array(best.plan.clients).keys()]
    await leaveOut('idleClients', clients, clients.length / parts)
    await leaveOut('without', shrinking.faultKinds, shrinking.faultKinds.length / parts)
    for (const least of CUTS) {
      for (const part of [0.25, 0.5, 0.75]) while (await cut(least, part));
    }
    const { counters } = best.failure.end
    const struck = [...counters].filter(([name]) => name.startsWith('blow:')).map(([, count]) => count)
    const blows = struck.reduce((sum, count) => sum + count, best.plan.sparedBlows.size)
    await leaveOut('sparedBlows', [...Array(blows).keys()], blows / parts)
    const sent = counters.get('client:asked') ?? 0
    await leaveOut('skippedRequests', [...Array(sent).keys()].reverse(), sent / parts)
  }
  await round(8)
  for (let before = Infinity; best.failure.end.steps < before && !isOver();) {
    before = best.failure.end.steps
    await round(Infinity)
  }
  return { ...best, runs }
}
