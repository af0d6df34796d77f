/** The page of a run: rates, processor time, floors, peers, ratios to an earlier run, and what to mistrust. */
import { ratiosOf } from './comparison.ts'
import { meanFloor } from './floor.ts'
import type { BenchReport, Summary } from './report-json.ts'
import { decimal, grid, percent } from './report-table.ts'
import { type FigureName, type Figures, PLAIN_PAIRS, type Row, runsOf } from './rows.ts'

interface Shown {
  readonly name: FigureName
  readonly head: string
  readonly show?: (value: number) => string
}

const LATENCIES: readonly Shown[] = [
  { name: 'p50Ms', head: 'p50' },
  { name: 'p99Ms', head: 'p99' },
  { name: 'finalP50Ms', head: 'final p50' },
]
const RATES: readonly Shown[] = [
  { name: 'perSecond', head: 'a second' },
  ...LATENCIES,
  { name: 'finalP99Ms', head: 'final p99' },
  { name: 'perCommit', head: 'in a commit' },
  { name: 'busyShare', head: 'CPUs busy', show: share },
  { name: 'othersShare', head: 'by others', show: share },
]
const COSTS: readonly Shown[] = [
  { name: 'cpuUs', head: 'ledger' },
  { name: 'edgeUs', head: 'edge' },
  { name: 'nodeUs', head: 'node' },
  { name: 'serverUs', head: 'server' },
  { name: 'postgresqlUs', head: 'PostgreSQL' },
  { name: 'natsUs', head: 'NATS' },
  { name: 'floorRatio', head: '/ floor' },
  { name: 'auditorUs', head: 'auditor' },
  { name: 'loadUs', head: 'load' },
  { name: 'walBytes', head: 'WAL bytes' },
]
const RATIOS: readonly Shown[] = [
  { name: 'perSecond', head: 'rate' },
  ...LATENCIES,
  { name: 'cpuUs', head: 'CPU' },
  { name: 'walBytes', head: 'WAL' },
].map((shown) => ({ ...shown, show: (value: number) => value.toFixed(2) }) as Shown)

const NOTES = [
  'p50, p99: ms until the reply (the 202), at a rate from the intended time of sending. final: until polling shows the order final; polled every',
  '20 ms at full load; at a rate every 2 ms, in a second run. ledger: edge + node + PostgreSQL + NATS. floor: one verification and one signature,',
  'of a transfer two signatures. Costs of idle are in a second. WAL has whole pages after each checkpoint of PostgreSQL. CPUs busy: by the bench.',
]

/** Share of the processors that other programs may use without a warning. */
const QUIET_SHARE = 0.05
/** Shorter runs vary by more than a tenth. */
const ENOUGH_SECONDS = 10
/** Share of the offered rate. */
const KEPT_UP = 0.95

export function pageSections(report: BenchReport, summary: Summary): readonly (readonly string[])[] {
  const { rows } = summary
  if (rows.length === 0) return [[headOf(report)], warningsOf(report)]
  return [
    [headOf(report)],
    gridOf('RATES AND LATENCIES', RATES, rows),
    gridOf('PROCESSOR TIME, µs', COSTS, rows),
    floorOf(report),
    peersOf(report, rows),
    comparisonOf(summary),
    NOTES,
    warningsOf(report),
  ]
}

function headOf({ options, machine, startedAt }: BenchReport): string {
  const { connections, accounts, edges, nodes, seconds } = options
  return (
    `${startedAt.slice(0, 16)}Z, ${machine.cores} CPUs (${machine.model}, load generator included), Node.js ${machine.node}; ` +
    `${connections} connections, ${accounts} accounts, ${edges} edge, ${nodes} node, ${seconds} s a run`
  )
}

function share(value: number): string {
  return value < 0.1 ? `${(100 * value).toFixed(1)} %` : percent(value)
}

/** Columns that no row has are left out. */
function gridOf(title: string, shown: readonly Shown[], rows: readonly Row[]): readonly string[] {
  const used = shown.filter(({ name }) => rows.some(({ figures }) => figures[name] !== undefined))
  const isBound = shown === RATES && rows.some(({ boundBy }) => boundBy !== undefined)
  return grid(
    [title, ...used.map(({ head }) => head), ...(isBound ? ['bound by'] : [])],
    rows.map(({ name, figures, boundBy = '' }) => [name, ...cellsOf(used, figures), ...(isBound ? [boundBy] : [])]),
  )
}

function cellsOf(shown: readonly Shown[], figures: Figures): readonly string[] {
  return shown.map(({ name, show = decimal }) => {
    const value = figures[name]
    return value === undefined ? '' : show(value)
  })
}

function floorOf(report: BenchReport): readonly string[] {
  const { submit, few, batches, transfers, lowLoad } = report
  const floors = [
    ...(submit ?? []),
    ...(few ?? []),
    ...(batches === null ? [] : [batches]),
    ...(transfers ?? []),
    ...(lowLoad === null ? [] : [lowLoad.lone, ...lowLoad.open]),
  ].map(({ floor }) => floor)
  if (floors.length === 0) return []
  const { verifyUs, signUs } = meanFloor(floors)
  return [`FLOOR: one P-256 verification ${decimal(verifyUs)} µs, one signature ${decimal(signUs)} µs`]
}

function peersOf({ pgbench }: BenchReport, rows: readonly Row[]): readonly string[] {
  const figuresOf = (name: string): Figures | undefined => rows.find((row) => row.name === name)?.figures
  const pairs = PLAIN_PAIRS.flatMap(([ours, plain]) => {
    const [own, other] = [figuresOf(ours), figuresOf(plain)]
    return own === undefined || other === undefined
      ? []
      : [{ name: `${ours} / ${plain}`, figures: ratiosOf(own, other) }]
  })
  return [
    ...(pairs.length === 0 ? [] : gridOf('OURS / PLAIN', RATIOS, pairs)),
    ...(pgbench === null || pgbench.skipped === null ? [] : [pgbench.skipped]),
  ]
}

function comparisonOf({ against, compared }: Summary): readonly string[] {
  if (against === null || compared.length === 0) return []
  const rows = compared.map(({ name, ratios }) => ({ name, figures: ratios }))
  const others = new Set(compared.map(({ otherConditions }) => otherConditions).filter((one) => one !== null))
  const differing = [...others].map((conditions) => {
    const names = compared.filter(({ otherConditions }) => otherConditions === conditions).map(({ name }) => name)
    return `MEASURED OTHERWISE, with ${conditions}: ${names.join('; ')}`
  })
  return [...gridOf(`NOW / ${against}`, RATIOS, rows), ...differing]
}

function warningsOf(report: BenchReport): readonly string[] {
  const { options, othersBefore, idle, lowLoad } = report
  const runs = runsOf(report)
  const othersDuring = Math.max(0, idle?.othersShare ?? 0, ...runs.map(({ othersShare }) => othersShare))
  const isNoisy = Math.max(othersBefore, othersDuring) >= QUIET_SHARE
  const behind = (lowLoad?.open ?? []).filter(
    ({ acceptedPerSecond, offeredPerSecond }) => acceptedPerSecond < KEPT_UP * offeredPerSecond,
  )
  return [
    ...(isNoisy
      ? [
          `NOT QUIET: other programs used ${percent(othersBefore)} of the processors before, up to ${percent(othersDuring)} during the runs; only CPU and WAL can be compared`,
        ]
      : []),
    ...(options.seconds < ENOUGH_SECONDS
      ? [`SHORT: runs of ${options.seconds} s; compare runs of ${ENOUGH_SECONDS} s or more`]
      : []),
    ...behind.map(
      ({ name, acceptedPerSecond }) => `BEHIND: of ${name} only ${decimal(acceptedPerSecond)} were accepted in time`,
    ),
    ...runs.flatMap(({ name, run }) =>
      run.surprises.length === 0 ? [] : [`OTHER REPLIES in ${name}: ${repliesOf(run.statuses)}`],
    ),
    ...runs.flatMap(({ name, run }) =>
      run.ranDry && run.lateness === null ? [`RAN DRY: ${name} sent all that was signed`] : [],
    ),
  ]
}

function repliesOf(statuses: Readonly<Record<string, number>>): string {
  return Object.entries(statuses)
    .map(([status, count]) => `${status} x ${count}`)
    .join(', ')
}
