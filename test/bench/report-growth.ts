/** How a ledger fared as it grew, for people: each size against the first. */
import { PARTS } from './cpu.ts'
import type { GrowthMeasured } from './growth.ts'
import type { Measured } from './measure.ts'
import type { MemoryByPart } from './part-memory.ts'
import { grid, milliseconds, number, percent } from './report-table.ts'

interface Row {
  readonly label: string
  readonly of: (size: GrowthMeasured) => number | undefined
  readonly show: (value: number) => string
  /** Counts that say what was measured are set against nothing. */
  readonly ratio?: boolean
}

const MIB = 1_048_576
const MEMORY_PARTS = ['edge', 'node', 'nats-server', 'postgresql'] as const satisfies readonly (keyof MemoryByPart)[]
const BY_AMOUNT = 'by amount'
const DEEP_PAGE = /^page [0-9]+$/

export function renderGrowth(sizes: readonly GrowthMeasured[]): string {
  const [first] = sizes
  if (first === undefined) return ''
  const names = [...new Set(sizes.flatMap(({ queries }) => queries.queries.map(({ name }) => rowOf(name))))]
  const counts = names.filter((name) => name.startsWith('total_count'))
  const lists = names.filter((name) => !counts.includes(name))
  const sections: readonly (readonly [title: string, rows: readonly Row[]])[] = [
    ['THE LEDGER', [...ledgerRows(), ...memoryRows()]],
    ['A SUBMISSION to any account, as many as get through', submissionRows(({ submissions }) => submissions)],
    ['A SUBMISSION to one of a thousand, as many as get through', submissionRows(({ toFew }) => toFew)],
    ['LISTS, p50', queryRows(names, lists, false, 'p50Ms')],
    ['LISTS, p99', queryRows(names, lists, false, 'p99Ms')],
    ['LISTS by amount, p50', queryRows(names, lists, true, 'p50Ms')],
    ['LISTS by amount, p99', queryRows(names, lists, true, 'p99Ms')],
    ['total_count, p50', queryRows(names, counts, null, 'p50Ms')],
    ['total_count, p99', queryRows(names, counts, null, 'p99Ms')],
  ]
  const heads = sizes.map(({ accounts, transactions }) => `${number(accounts)} / ${number(transactions)}`)
  return [
    '',
    'GROWTH: accounts / transactions; in brackets against the first',
    ...sections.flatMap(([title, rows]) => ['', ...grid([title, ...heads], rows.map(cellsOf(sizes, first)))]),
    '',
    ...notes(sizes),
    '',
  ].join('\n')
}

function cellsOf(sizes: readonly GrowthMeasured[], first: GrowthMeasured) {
  return ({ label, of, show, ratio = true }: Row): readonly string[] => {
    const base = of(first)
    return [
      label,
      ...sizes.map((size) => {
        const value = of(size)
        if (value === undefined) return ''
        const against = ratio && size !== first && base !== undefined && base > 0
        return against ? `${show(value)} (${(value / base).toFixed(2)})` : show(value)
      }),
    ]
  }
}

function ledgerRows(): readonly Row[] {
  const seconds = (value: number): string => `${(value / 1000).toFixed(1)} s`
  return [
    { label: 'loaded in', of: ({ loadedMs }) => loadedMs ?? undefined, show: seconds },
    { label: 'ready after', of: ({ readyMs }) => readyMs, show: seconds },
    { label: 'the auditor at rest after', of: ({ auditorAtRestMs }) => auditorAtRestMs, show: seconds },
    {
      label: 'nodes killed: every shard has an owner after',
      of: ({ takeover }) => takeover?.ownedMs,
      show: (value) => `${number(value)} ms`,
    },
    {
      label: 'nodes killed: longest of any account without a 202',
      of: ({ takeover }) => takeover?.run.gapsByAccount?.maxMs,
      show: (value) => `${number(value)} ms`,
    },
    { label: 'nodes killed: 503', of: ({ takeover }) => takeover?.unavailable, show: number, ratio: false },
    { label: 'database, MiB', of: ({ disk }) => disk.databaseBytes / MIB, show: number },
    { label: 'its log, MiB', of: ({ disk }) => disk.logBytes / MIB, show: number },
    {
      label: 'database, bytes a transaction',
      of: ({ disk, queries }) => disk.databaseBytes / Math.max(1, queries.transactions),
      show: number,
    },
  ]
}

function memoryRows(): readonly Row[] {
  return MEMORY_PARTS.flatMap(
    (part) =>
      [
        { label: `memory of ${part}, MiB: at the start`, of: (size) => size.memoryAtStart[part] / MIB, show: number },
        { label: `memory of ${part}, MiB: after load`, of: (size) => size.memoryAfter[part] / MIB, show: number },
      ] satisfies readonly Row[],
  )
}

function submissionRows(measured: (size: GrowthMeasured) => Measured): readonly Row[] {
  const one = (value: number): string => value.toFixed(1)
  return [
    { label: 'applied per second', of: (size) => measured(size).appliedPerSecond, show: number },
    { label: 'p50 of the 202, ms', of: (size) => measured(size).run.latency.p50Ms, show: milliseconds },
    { label: 'p99 of the 202, ms', of: (size) => measured(size).run.latency.p99Ms, show: milliseconds },
    { label: 'transactions per commit', of: (size) => measured(size).batchSize, show: one },
    ...PARTS.map((part) => ({
      label: `CPU µs, ${part}`,
      of: (size: GrowthMeasured) => measured(size).cpuUs[part],
      show: one,
    })),
    { label: 'CPU µs of the ledger', of: (size) => measured(size).ledgerCpuUs, show: one },
    { label: 'CPU / floor', of: (size) => measured(size).floorRatio, show: (value) => value.toFixed(2) },
    {
      label: 'processors used by others',
      of: (size) => measured(size).othersShare,
      show: percent,
      ratio: false,
    },
  ]
}

/** A small ledger has fewer pages: its deepest stands beside those of the others. */
function rowOf(queryName: string): string {
  return DEEP_PAGE.test(queryName) ? 'a deep page' : queryName
}

/** `byAmount`: those with such a filter, those without, or (null) both. */
function queryRows(
  names: readonly string[],
  chosen: readonly string[],
  byAmount: boolean | null,
  which: 'p50Ms' | 'p99Ms',
): readonly Row[] {
  return names
    .filter((name) => chosen.includes(name) && (byAmount === null || name.includes(BY_AMOUNT) === byAmount))
    .map((name) => ({
      label: `${name}, ms`,
      of: ({ queries }) => queries.queries.find((query) => rowOf(query.name) === name)?.latency[which],
      show: milliseconds,
    }))
}

function notes(sizes: readonly GrowthMeasured[]): readonly string[] {
  const others = Math.max(...sizes.map(({ submissions }) => submissions.othersShare))
  return [
    'Memory is of all processes of a part; what they share counts once. A page has 100 rows, one where only total_count is asked for.',
    `Other programs had up to ${percent(others)} of the processors while submissions were measured.`,
    ...sizes.flatMap(({ accounts, failures }) =>
      failures.map(({ what, message }) => `${number(accounts)} accounts: ${what} FAILED: ${message}`),
    ),
  ]
}
