/** The story of a run as it is printed: how it was made up, what happened, and what broke. */
import type { RunEnd } from './kernel.ts'
import type { Plan } from './plan.ts'
import { lineText, shownLines, type StoryLine } from './story-lines.ts'
import { meaningOf, type Violation } from './violations.ts'

export interface Tale {
  readonly plan: Plan
  readonly lines: readonly StoryLine[]
  /** Empty: the run held. */
  readonly violations: readonly Violation[]
  readonly end: RunEnd
  /** Everything that happened, however long. */
  readonly full: boolean
}

/** As many violations: what follows from the first is seldom news. */
const SHOWN_VIOLATIONS = 5

export function taleText({ plan, lines, violations, end, full }: Tale): readonly string[] {
  const shown = full ? lines.map(lineText) : shownLines(lines, violations)
  const which = violations.length === 0 ? 'the last' : 'those that touch what broke, and the last'
  const isWhole = full || shown.length === lines.length
  return [
    setting(plan),
    `${lines.length} lines${isWhole ? '' : `; shown are ${which}; --full shows all`}`,
    ...shown,
    ...broken(violations),
    `seed ${plan.seed}: ${end.steps} steps in ${(end.virtualMs / 1000).toFixed(1)} s of virtual time, hash ${end.hash}`,
  ]
}

function setting({ nodes, edges, accounts, clients, requestsPerClient, faultsMs, ...plan }: Plan): string {
  const left = [
    plan.without.size > 0 ? `${plan.without.size} kinds of faults left out` : '',
    plan.sparedBlows.size > 0 ? `${plan.sparedBlows.size} blows spared` : '',
    plan.idleClients.size > 0 ? `${plan.idleClients.size} clients do nothing` : '',
    plan.skippedRequests.size > 0 ? `${plan.skippedRequests.size} requests left out` : '',
  ].filter((text) => text !== '')
  const cluster = `${nodes} nodes, ${edges} edges, ${accounts} accounts, ${clients} clients of ${requestsPerClient} requests`
  return [`${cluster}, faults for ${(faultsMs / 1000).toFixed(1)} s`, ...left].join('; ')
}

function broken(violations: readonly Violation[]): readonly string[] {
  if (violations.length === 0) return ['nothing broke']
  const names = [...new Set(violations.map(({ name }) => name))]
  const more = violations.length - SHOWN_VIOLATIONS
  return [
    'BROKEN:',
    ...violations.slice(0, SHOWN_VIOLATIONS).map(({ text }) => `  ${text}`),
    ...(more > 0 ? [`  … and ${more} more`] : []),
    ...names.map((name) => `  ${name}: ${meaningOf(name)}`),
  ]
}
