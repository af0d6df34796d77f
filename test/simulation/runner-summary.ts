/** What many runs came to: added up, grouped for people, and held against what must have happened. */
import { DEMANDED, DEMANDED_FROM_SEEDS } from './demanded.ts'
import type { SeedResult } from './seed-worker.ts'

export interface Failed {
  readonly seed: number
  readonly steps: number
  /** Names of what broke, the first first. */
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
  /** Demanded, and never seen; null when too few seeds were run to expect all. */
  readonly unseen: readonly string[] | null
}

export class Sums {
  seeds = 0
  steps = 0
  virtualMs = 0
  readonly failures: Failed[] = []
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

const GROUPS: readonly (readonly [title: string, leads: readonly string[]])[] = [
  ['faults', ['fault:', 'blow:']],
  ['rare paths', ['rare:']],
  ['answers', ['answer:', 'answered:']],
  ['ends', ['ended:']],
]
const LINE_WIDTH = 110

export function summaryText(summary: Summary): readonly string[] {
  const { seeds, from, wallMs, steps, virtualMs, failures, counters, unseen } = summary
  const wallS = Math.max(wallMs, 1) / 1000
  const grouped = new Set<string>()
  const groups = GROUPS.map(([title, leads]) => {
    const names = Object.keys(counters).filter((name) => leads.some((lead) => name.startsWith(lead)))
    for (const name of names) grouped.add(name)
    return [title, names] as const
  })
  const others = Object.keys(counters).filter((name) => !grouped.has(name))
  const missing =
    unseen === null
      ? [`fewer than ${DEMANDED_FROM_SEEDS} seeds: it cannot be expected that they show all that is demanded`]
      : unseen.length > 0
        ? ['demanded and never seen:', ...unseen.map((name) => `  ${name}`)]
        : [`all ${DEMANDED.length} demanded counters were seen`]
  return [
    ...[...groups, ['other', others] as const].flatMap(([title, names]) => groupText(title, names, counters)),
    '',
    `${seeds} seeds from ${from} in ${wallS.toFixed(1)} s: ${(seeds / wallS).toFixed(1)} seeds/s, ${steps} steps`,
    `simulated: ${spanText(virtualMs)}, ${(virtualMs / 1000 / wallS).toFixed(0)} s in a second`,
    ...missing,
    failures.length === 0 ? 'no seed failed' : `${failures.length} seeds failed:`,
    ...failures.map(({ seed, names, text }) => `  ${seed} ${names.join(', ')}: ${text}`),
  ]
}

function groupText(
  title: string,
  names: readonly string[],
  counters: Readonly<Record<string, number>>,
): readonly string[] {
  const lines: string[] = []
  for (const name of names) {
    const item = `${name} ${counters[name]}`
    const last = lines.at(-1)
    if (last !== undefined && last.length + item.length + 2 <= LINE_WIDTH) lines[lines.length - 1] = `${last}, ${item}`
    else lines.push(`  ${item}`)
  }
  return [title, ...lines]
}

/** In the unit in which it is easily read. */
export function spanText(ms: number): string {
  const hours = ms / 3_600_000
  if (hours >= 48) return `${(hours / 24).toFixed(1)} days`
  return hours >= 1 ? `${hours.toFixed(1)} hours` : `${(ms / 60_000).toFixed(1)} minutes`
}
