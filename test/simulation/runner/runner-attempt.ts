/** One run as data, whether it held or failed, and its story on request. */
import { type ClusterOptions, runCluster } from '../cluster/cluster.ts'
import { FAULT_KINDS } from '../cluster/faults.ts'
import { type RunEnd, SimulationFailure } from '../kernel/kernel.ts'
import { MUTATIONS } from '../mutation-list.ts'
import { type Plan, writePlan } from '../plan.ts'
import { shrink, type Shrunk } from './shrink.ts'
import { createStory, taleText } from '../story.ts'
import type { Violation } from '../violations.ts'

const MAX_RUNS = 150
const MAX_MS = 60_000
/** The row replay finds its violations within few seeds: one seed in so many runs it. */
const REPLAYED_SEEDS = 3

export interface Attempt {
  readonly end: RunEnd
  /** Empty if the run held. */
  readonly violations: readonly Violation[]
}

/** `broken`: the name of the rule to switch off. */
export async function attempt(
  plan: Plan,
  broken: string | null,
  options: Omit<ClusterOptions, 'plan' | 'breaks'> = {},
): Promise<Attempt> {
  const breaks = broken === null ? {} : (MUTATIONS[broken]?.breaks ?? {})
  try {
    const replaysRows = broken !== null || plan.seed % REPLAYED_SEEDS === 0
    return { end: await runCluster({ plan, breaks, replaysRows, ...options }), violations: [] }
  } catch (error) {
    if (error instanceof SimulationFailure) return { end: error.end, violations: error.violations }
    throw error
  }
}

/** Repeats the run with its story. */
export async function storyOf(
  plan: Plan,
  broken: string | null,
  full: boolean,
): Promise<Attempt & { readonly text: readonly string[] }> {
  const story = createStory()
  const outcome = await attempt(plan, broken, { story })
  const text = [`replay: ${replayCommand(plan, broken)}`, ...taleText({ lines: story.lines(), ...outcome, plan, full })]
  return { ...outcome, text }
}

/** Looks for the shortest plan with the same failure. */
export function shortest(plan: Plan, failure: Attempt, broken: string | null): Promise<Shrunk> {
  const untilMs = performance.now() + MAX_MS
  return shrink({
    plan,
    failure,
    faultKinds: FAULT_KINDS,
    run: (smaller) => attempt(smaller, broken),
    maxRuns: MAX_RUNS,
    isLate: () => performance.now() > untilMs,
  })
}

/** The command that replays exactly that run. */
function replayCommand(plan: Plan, broken: string | null): string {
  const differs = writePlan(plan)
  const change = differs === '{}' ? '' : `SIM_PLAN='${differs}' `
  return `${change}SIM_SEED=${plan.seed} npm run sim${broken === null ? '' : ` -- --break ${broken}`}`
}
