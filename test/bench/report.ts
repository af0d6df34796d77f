/** What was measured, for people. */
import { LEDGER_PARTS, PARTS, type CpuByPart } from './cpu.ts'
import type { Floor } from './floor.ts'
import type { RunResult } from './load-messages.ts'
import type { BenchOptions } from './options.ts'

export interface Measured {
  readonly name: string
  readonly run: RunResult
  /** Counted in the ledger, not by what it answered. */
  readonly completed: number
  readonly failed: number
  readonly appliedPerSecond: number
  readonly batchSize: number
  /** Microseconds for each transaction that was processed. */
  readonly cpuUs: CpuByPart
  readonly ledgerCpuUs: number
  /** Of the processors that there are, the share that everything together used. */
  readonly cpuShare: number
  readonly floor: Floor
  readonly floorRatio: number
}

export interface BenchReport {
  readonly options: BenchOptions
  readonly machine: { readonly cores: number; readonly model: string; readonly node: string }
  readonly measured: readonly Measured[]
}

/** A closed loop keeps the processors busy: where it did not, something else had them. */
const BUSY_SHARE = 0.85
const NOT_ALONE =
  'The processors were not all used by this: other programs ran beside it, and rates and latencies are worse for it.'

export function renderReport(report: BenchReport): string {
  const { options, machine, measured } = report
  const columns = measured.map(cellsOf)
  const labels = columns[0]?.map(([label]) => label) ?? []
  const lines = labels.map((label, row) =>
    line(
      label,
      columns.map((cells) => cells[row]?.[1] ?? ''),
    ),
  )
  const [random, hot] = measured
  const share =
    random === undefined || hot === undefined
      ? ''
      : percent(hot.appliedPerSecond / Math.max(1, random.appliedPerSecond))
  return [
    '',
    `${machine.cores} cores (${machine.model}), Node.js ${machine.node}; ${options.connections} connections, ` +
      `${options.edges} edge, ${options.nodes} node; the load generator runs on the same cores`,
    '',
    line(
      '',
      measured.map(({ name }) => name),
    ),
    ...lines,
    '',
    `One account against many: ${share}`,
    ...(measured.some(({ cpuShare }) => cpuShare < BUSY_SHARE) ? [NOT_ALONE] : []),
    '',
  ].join('\n')
}

function cellsOf(measured: Measured): readonly (readonly [string, string])[] {
  const { run, cpuUs, floor } = measured
  return [
    ['applied per second', number(measured.appliedPerSecond)],
    ['applied / failed', `${measured.completed} / ${measured.failed}`],
    ['replies by status', statusesOf(run)],
    ['measured for', `${(run.durationMs / 1000).toFixed(1)} s`],
    ['transactions per commit', measured.batchSize.toFixed(1)],
    ['202: p50 / p99 / max', latency(run.latency)],
    [`final: p50 / p99 / max`, `${latency(run.toFinal)} (${run.toFinal.count})`],
    ...PARTS.map((part) => [`CPU µs, ${part}`, cpuUs[part].toFixed(1)] as const),
    [`CPU µs, ${LEDGER_PARTS.join(' + ')}`, measured.ledgerCpuUs.toFixed(1)],
    ['floor µs: verify + sign', `${floor.verifyUs.toFixed(1)} + ${floor.signUs.toFixed(1)}`],
    ['CPU per transaction / floor', measured.floorRatio.toFixed(2)],
    ['processors in use', percent(measured.cpuShare)],
  ]
}

function statusesOf({ statuses }: RunResult): string {
  return Object.entries(statuses)
    .map(([status, count]) => `${status}: ${count}`)
    .join(', ')
}

function latency({ p50Ms, p99Ms, maxMs }: RunResult['latency']): string {
  return `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)} / ${maxMs.toFixed(1)} ms`
}

function line(label: string, cells: readonly string[]): string {
  return `${label.padEnd(50)}${cells.map((cell) => cell.padEnd(36)).join('')}`.trimEnd()
}

function number(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`
}
