/** Prints measurements as tables. A number in brackets is the ratio to the first column. */
import type { Cost } from './cost.ts'
import { POLL_PAUSE_MS } from './follower.ts'
import type { GrowthMeasured } from './growth.ts'
import type { BenchReport, ScalingMeasured } from './report-json.ts'
import { type Column, list, percent, table } from './report-table.ts'
import type { RestartMeasured } from './restart.ts'
import type { SoakReport } from './soak.ts'
import type { StepsReport } from './steps.ts'

/** What other programs may take without being worth a word. */
const QUIET_SHARE = 0.05
/** Of the looks of a soak: all are in the JSON. */
const LOOKS_SHOWN = 12

const NOTES = [
  'answer: to a request, of submissions the 202. CPU: of each transaction. Floor: one P-256 verification and one signature, two for a transfer.',
  `final, polled: looked at every ${POLL_PAUSE_MS} ms. final, waited: by Prefer: wait. At a constant rate a time begins when a request was to be sent.`,
]

export function renderReport(report: BenchReport): string {
  const { options, machine, submit, batches, openLoop, transfers, queries, handOff, hostile, restart, pgbench } = report
  return pageOf([
    [
      `${machine.cores} cores (${machine.model}), Node.js ${machine.node}; ${options.connections} connections, ` +
        `${options.edges} edge, ${options.nodes} node; the load generator runs on the same cores`,
    ],
    submit === null ? [] : table('SUBMISSIONS, as many as get through', named(submit)),
    batches === null ? [] : table('BATCHES, as many as get through', named([batches])),
    openLoop === null ? [] : table('SUBMISSIONS at a constant rate', named(openLoop)),
    transfers === null ? [] : table('TRANSFERS between shards', named(transfers)),
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
    restart === null ? [] : table('RESTART of everything', restartColumns(restart)),
    pgbench === null ? [] : table('TPC-B on the same PostgreSQL', [{ name: 'pgbench', of: pgbench }]),
    NOTES,
    company(report),
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
    NOTES,
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

/** Warns when other programs used the processors. */
function company({ submit, batches, openLoop, transfers, restart }: BenchReport): readonly string[] {
  const costs: readonly Cost[] = [
    ...(submit ?? []),
    ...(batches === null ? [] : [batches]),
    ...(openLoop ?? []),
    ...(transfers ?? []),
    ...(restart === null ? [] : [restart.cold, restart.warm]),
  ]
  const most = Math.max(0, ...costs.map(({ othersShare }) => othersShare))
  if (most < QUIET_SHARE) return []
  return [`Other programs had up to ${percent(most)} of the processors: rates and latencies are worse for it.`]
}
