/** What is done about a run that fails: the shortest one like it is looked for, and its story is told. */
import { FAULT_KINDS } from './faults.ts'
import { type Plan, writePlan } from './plan.ts'
import { type Attempt, attempt, toldAttempt } from './runner-attempt.ts'
import { shrink, type Shrunk } from './shrink.ts'
import { taleText } from './story-tale.ts'

const MAX_RUNS = 150
const MAX_MS = 60_000

export interface Failing {
  readonly plan: Plan
  readonly failure: Attempt
  readonly broken: string | null
}

export function shortest({ plan, failure, broken }: Failing, note: (line: string) => void): Promise<Shrunk> {
  const untilMs = performance.now() + MAX_MS
  return shrink({
    plan,
    failure,
    faultKinds: FAULT_KINDS,
    run: (smaller) => attempt(smaller, broken),
    maxRuns: MAX_RUNS,
    isLate: () => performance.now() > untilMs,
    onProgress: (runs, steps) =>
      note(`shrinks seed ${plan.seed}: ${runs} runs, ${steps} of ${failure.end.steps} steps left`),
  })
}

/** Runs it once more, with its story. */
export async function storyOf(
  plan: Plan,
  broken: string | null,
  full: boolean,
): Promise<Attempt & { readonly text: readonly string[] }> {
  const { lines, ...outcome } = await toldAttempt(plan, broken)
  const text = [`replay: ${replayCommand(plan, broken)}`, ...taleText({ plan, lines, ...outcome, full })]
  return { ...outcome, text }
}

/** Replays exactly that run. */
export function replayCommand(plan: Plan, broken: string | null): string {
  const differs = writePlan(plan, FAULT_KINDS)
  const change = differs === '{}' ? '' : `SIM_PLAN='${differs}' `
  return `${change}SIM_SEED=${plan.seed} npm run sim${broken === null ? '' : ` -- --break ${broken}`}`
}
