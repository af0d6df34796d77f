/** Columns of text. */
import { boundOf, type Cost } from './cost.ts'
import { LEDGER_PARTS, PARTS } from './cpu.ts'
import type { RunResult } from './load-messages.ts'
import type { Latency } from './statistics.ts'

/** One column: each row's label and value. */
export type Cells = readonly (readonly [label: string, value: string])[]

const BETWEEN = '  '
/** Below it the 99.9th percentile is the longest, and is not shown. */
const ENOUGH_FOR_P999 = 1_000

/** All columns have the rows of the first; each is as wide as it must be. A row that is empty in all is left out. */
export function table(names: readonly string[], columns: readonly Cells[]): readonly string[] {
  const labels = columns[0]?.map(([label]) => label) ?? []
  const rows = labels.map((label, row) => [label, ...columns.map((cells) => cells[row]?.[1] ?? '')])
  return grid(
    ['', ...names],
    rows.filter(([, ...values]) => values.some((value) => value !== '')),
  )
}

/** Rows under heads. */
export function grid(heads: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const all = [heads, ...rows]
  const widths = heads.map((_head, column) => Math.max(...all.map((row) => (row[column] ?? '').length)))
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(BETWEEN)
      .trimEnd(),
  )
}

/** Rows about what a transaction cost. `floor`: what the floor is made of. */
export function costCells(cost: Cost, floor: string): Cells {
  const { cpuUs, floor: measured } = cost
  return [
    ...PARTS.map((part) => [`CPU µs, ${part}`, cpuUs[part].toFixed(1)] as const),
    [`CPU µs, ${LEDGER_PARTS.join(' + ')}`, cost.ledgerCpuUs.toFixed(1)],
    ['one P-256 verification / signature, µs', `${measured.verifyUs.toFixed(1)} / ${measured.signUs.toFixed(1)}`],
    [`CPU / floor (${floor})`, cost.floorRatio.toFixed(2)],
    ['processors in use / by others', `${percent(cost.cpuShare)} / ${percent(cost.othersShare)}`],
    [
      'main thread of edge / node / load generator',
      `${percent(cost.mainThreads.edge)} / ${percent(cost.mainThreads.node)} / ${percent(cost.mainThreads['load generator'])}`,
    ],
    ['what bounds it', boundOf(cost)],
  ]
}

export function statuses(run: Pick<RunResult, 'statuses'>): string {
  return Object.entries(run.statuses)
    .map(([status, count]) => `${status}: ${count}`)
    .join(', ')
}

export const LATENCY = 'p50 / p99 / p99.9 / max'

/** By the columns of `LATENCY`. */
export function latency({ count, p50Ms, p99Ms, p999Ms, maxMs }: Latency): string {
  if (count === 0) return ''
  const p999 = count < ENOUGH_FOR_P999 ? '-' : milliseconds(p999Ms)
  return `${milliseconds(p50Ms)} / ${milliseconds(p99Ms)} / ${p999} / ${milliseconds(maxMs)} ms`
}

/** Three digits or more. */
export function milliseconds(value: number): string {
  return value < 100 ? value.toFixed(1) : number(value)
}

/** With of how many. */
export function sample(followed: Latency): string {
  return followed.count === 0 ? '' : `${latency(followed)} (${followed.count})`
}

export function number(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`
}
