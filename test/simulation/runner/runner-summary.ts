/** The results of many runs: totals, and the demanded events that never occurred. */
import { DEMANDED, DEMANDED_FROM_SEEDS } from '../demanded.ts'
import type { SeedResult } from './seed-worker.ts'

export interface Failed {
  readonly seed: number
  readonly steps: number
  /** Names of the violations, in order. */
  readonly names: readonly string[]
  readonly text: string
}

export interface Summary {
  readonly seeds: number
  readonly from: number
  readonly wallMs: number
  readonly steps: number
  readonly virtualMs: number
  readonly failures: readonly Failed[]
  readonly counters: Readonly<Record<string, number>>
  /** Demanded and never seen; null if too few seeds were run to expect all. */
  readonly unseen: readonly string[] | null
}

export class Sums {
  seeds = 0
  readonly failures: Failed[] = []
  private steps = 0
  private virtualMs = 0
  private readonly counters = new Map<string, number>()

  add({ seed, end, violations }: SeedResult): void {
    this.seeds += 1
    this.steps += end.steps
    this.virtualMs += end.virtualMs
    for (const [name, count] of end.counters) this.counters.set(name, (this.counters.get(name) ?? 0) + count)
    const first = violations[0]
    if (first === undefined) return
    const names = [...new Set(violations.map(({ name }) => name))]
    this.failures.push({ seed, steps: end.steps, names, text: first.text })
  }

  summary(from: number, wallMs: number): Summary {
    const counters = Object.fromEntries([...this.counters].toSorted(([left], [right]) => (left < right ? -1 : 1)))
    const unseen = DEMANDED.filter((name) => (counters[name] ?? 0) === 0)
    return {
      seeds: this.seeds,
      from,
      wallMs: Math.round(wallMs),
      steps: this.steps,
      virtualMs: Math.round(this.virtualMs),
      failures: this.failures.toSorted((left, right) => left.seed - right.seed),
      counters,
      unseen: this.seeds < DEMANDED_FROM_SEEDS ? null : unseen,
    }
  }
}

export function hasFailed({ failures, unseen }: Summary): boolean {
  return failures.length > 0 || (unseen !== null && unseen.length > 0)
}

export function summaryText(summary: Summary): readonly string[] {
  const { seeds, from, wallMs, steps, virtualMs, failures, counters, unseen } = summary
  const wallS = Math.max(wallMs, 1) / 1000
  const leads = [...new Set(Object.keys(counters).map((name) => name.split(':')[0]))]
  return [
    ...leads.map((lead) => {
      const names = Object.keys(counters).filter((name) => name.split(':')[0] === lead)
      return `  ${names.map((name) => `${name} ${counters[name]}`).join(', ')}`
    }),
    '',
    `${seeds} seeds from ${from} in ${wallS.toFixed(1)} s: ${(seeds / wallS).toFixed(1)} seeds/s, ${steps} steps`,
    `simulated: ${(virtualMs / 60_000).toFixed(1)} minutes, ${(virtualMs / wallMs).toFixed(0)} s in a second`,
    ...seenText(unseen),
    failures.length === 0 ? 'no seed failed' : `${failures.length} seeds failed:`,
    ...failures.map(({ seed, names, text }) => `  ${seed} ${names.join(', ')}: ${text}`),
  ]
}

function seenText(unseen: Summary['unseen']): readonly string[] {
  if (unseen === null) return [`fewer than ${DEMANDED_FROM_SEEDS} seeds: too few to show every demanded event`]
  if (unseen.length === 0) return [`all ${DEMANDED.length} demanded counters were seen`]
  return ['demanded and never seen:', ...unseen.map((name) => `  ${name}`)]
}
