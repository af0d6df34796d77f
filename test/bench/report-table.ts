/** Columns of text. */
import type { RunResult } from './load-messages.ts'
import type { Latency } from './statistics.ts'

/** One column: each row's label and value. */
export type Cells = readonly (readonly [label: string, value: string])[]

/** All columns have the rows of the first. */
export function table(names: readonly string[], columns: readonly Cells[]): readonly string[] {
  const labels = columns[0]?.map(([label]) => label) ?? []
  const rows = labels.map((label, row) =>
    line(
      label,
      columns.map((cells) => cells[row]?.[1] ?? ''),
    ),
  )
  return [line('', names), ...rows]
}

export function statuses(run: RunResult): string {
  return Object.entries(run.statuses)
    .map(([status, count]) => `${status}: ${count}`)
    .join(', ')
}

export function latency({ p50Ms, p99Ms, maxMs }: Latency): string {
  return `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)} / ${maxMs.toFixed(1)} ms`
}

export function number(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`
}

function line(label: string, cells: readonly string[]): string {
  return `${label.padEnd(50)}${cells.map((cell) => cell.padEnd(36)).join('')}`.trimEnd()
}
