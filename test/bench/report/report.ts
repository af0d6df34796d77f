/** Prints measurements as tables. A number in brackets is the ratio to the first column. */
import type { GrowthMeasured } from '../scenes/growth.ts'
import { pageSections } from './page.ts'
import type { BenchReport, ScalingMeasured, Summary } from './report-json.ts'
import { type Column, list, percent, table } from './report-table.ts'
import type { RestartMeasured } from '../scenes/restart.ts'
import type { SoakReport } from '../scenes/soak.ts'
import type { StepsReport } from '../scenes/steps.ts'

/** Samples of a soak to show: all are in the JSON. */
const LOOKS_SHOWN = 12

export function renderReport(report: BenchReport, summary: Summary): string {
  const { queries, handOff, hostile, fairness, events, restart } = report
  return pageOf([
    ...pageSections(report, summary),
    queries === null ? [] : list(`QUERIES on ${queries.transactions} transactions`, named(queries.queries)),
    handOff === null
      ? []
      : table(
          'HAND-OFF under submissions',
          columns(handOff, ({ event }) => event),
        ),
    hostile === null
      ? []
      : table(
          'SUBMISSIONS beside requests without a token',
          columns(hostile, ({ kind }) => kind),
        ),
    fairness === null
      ? []
      : table(
          'A CALM CLIENT beside a busy one',
          columns(fairness, ({ beside }) => beside),
        ),
    events === null
      ? []
      : table(
          'ORDERS beside readers of events',
          columns(events, ({ readers }) => readers),
        ),
    restart === null ? [] : table('RESTART of everything', restartColumns(restart)),
    report.failures.map(({ measurement, message }) => `${measurement} FAILED: ${message}`),
  ])
}

export function renderScaling(measured: readonly ScalingMeasured[], share: number): string {
  const title = `Each node is held to ${percent(share)} of one processor`
  return pageOf([
    table(
      title,
      columns(measured, ({ nodes }) => `${nodes} nodes`),
    ),
  ])
}

export function renderSteps({ byAssets, byHolds }: StepsReport): string {
  return pageOf([
    table(
      'ORDERS by assets of the account',
      byAssets.map(({ assets, holds: _holds, ...of }) => ({ name: String(assets), of })),
    ),
    table(
      'ORDERS by holds of the account',
      byHolds.map(({ assets: _assets, holds, ...of }) => ({ name: String(holds), of })),
    ),
  ])
}

export function renderGrowth(sizes: readonly GrowthMeasured[]): string {
  const of = (title: string, part: (size: GrowthMeasured) => object): readonly string[] =>
    table(
      title,
      sizes.map((size) => ({ name: `${size.accounts} / ${size.transactions}`, of: part(size) })),
    )
  return pageOf([
    of(
      'GROWTH: accounts / transactions',
      ({ submissions: _any, toFew: _few, queries: _queries, failures: _failures, ...rest }) => rest,
    ),
    of('A SUBMISSION to any account', ({ submissions }) => submissions),
    of('A SUBMISSION to one of a thousand', ({ toFew }) => toFew),
    of('LISTS', ({ queries }) =>
      Object.fromEntries(queries.queries.map(({ name, latency: { p50Ms, p99Ms } }) => [name, { p50Ms, p99Ms }])),
    ),
    sizes.flatMap(({ accounts, failures }) =>
      failures.map(({ what, message }) => `${accounts} accounts: ${what} FAILED: ${message}`),
    ),
  ])
}

export function renderSoak({ samples, verdict, ...rest }: SoakReport): string {
  const step = Math.max(1, Math.ceil(samples.length / LOOKS_SHOWN))
  const shown = samples.filter((_sample, index) => index % step === 0 || index === samples.length - 1)
  const minute = (atMs: number): string => `${(atMs / 60_000).toFixed(2)} min`
  return pageOf([
    table('SOAK at a constant rate', [{ name: '', of: rest }]),
    table(
      'LOOKS',
      columns(shown, ({ atMs }) => minute(atMs)),
      false,
    ),
    list('VERDICT', named(verdict.processes)),
    [verdict.passed ? 'PASSED: memory stayed within its bound and does not grow.' : 'FAILED'],
  ])
}

function pageOf(sections: readonly (readonly string[])[]): string {
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => `\n${lines.join('\n')}\n`)
    .join('')
}

function columns<Of extends object>(measured: readonly Of[], nameOf: (one: Of) => string): readonly Column[] {
  return measured.map((of) => ({ name: nameOf(of), of }))
}

function named(measured: readonly { readonly name: string }[]): readonly Column[] {
  return columns(measured, ({ name }) => name)
}

function restartColumns({ cold, warm, ...whole }: RestartMeasured): readonly Column[] {
  return [
    { name: 'warm', of: { ...whole, ...warm } },
    { name: 'cold', of: cold },
  ]
}
