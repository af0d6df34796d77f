/** One run as data, whether it held or failed; and its story, when it is asked for. */
import { runCluster } from './cluster.ts'
import { type RunEnd, SimulationFailure } from './kernel.ts'
import type { Plan } from './plan.ts'
import { mutationsOf } from './runner-broken.ts'
import { createStory } from './story.ts'
import type { StoryLine } from './story-lines.ts'
import type { Violation } from './violations.ts'

export interface Attempt {
  readonly end: RunEnd
  /** Empty: the run held. */
  readonly violations: readonly Violation[]
}

export interface ToldAttempt extends Attempt {
  readonly lines: readonly StoryLine[]
}

/** `broken`: the name of a rule that is switched off. */
export function attempt(plan: Plan, broken: string | null): Promise<Attempt> {
  return outcomeOf(() => runCluster({ plan, ...mutationsOf(broken) }))
}

export async function toldAttempt(plan: Plan, broken: string | null): Promise<ToldAttempt> {
  const story = createStory()
  const outcome = await outcomeOf(() => runCluster({ plan, story, ...mutationsOf(broken) }))
  return { ...outcome, lines: story.lines() }
}

async function outcomeOf(run: () => Promise<RunEnd>): Promise<Attempt> {
  try {
    return { end: await run(), violations: [] }
  } catch (error) {
    if (error instanceof SimulationFailure) return { end: error.end, violations: error.violations }
    throw error
  }
}
