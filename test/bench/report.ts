/** What was measured, for people. */
import { LEDGER_PARTS, PARTS, type CpuByPart } from './cpu.ts'
import type { Floor } from './floor.ts'
import type { RunResult } from './load-messages.ts'
import type { BenchOptions } from './options.ts'
import { type Cells, latency, number, percent, statuses, table } from './report-table.ts'
import { renderTransfers } from './report-transfers.ts'
import type { TransfersMeasured } from './transfers.ts'

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
  readonly transfers: readonly TransfersMeasured[]
}

/** A closed loop keeps the processors busy: where it did not, something else had them. */
const BUSY_SHARE = 0.85
const NOT_ALONE =
  'The processors were not all used by this: other programs ran beside it, and rates and latencies are worse for it.'

export function renderReport(report: BenchReport): string {
  const { options, machine, measured, transfers } = report
  const [random, hot] = measured
  const share =
    random === undefined || hot === undefined
      ? ''
      : percent(hot.appliedPerSecond / Math.max(1, random.appliedPerSecond))
  const closedLoops = [...measured, ...transfers.filter(({ offeredPerSecond }) => offeredPerSecond === null)]
  return [
    '',
    `${machine.cores} cores (${machine.model}), Node.js ${machine.node}; ${options.connections} connections, ` +
      `${options.edges} edge, ${options.nodes} node; the load generator runs on the same cores`,
    '',
    ...table(
      measured.map(({ name }) => name),
      measured.map(cellsOf),
    ),
    '',
    `One account against many: ${share}`,
    '',
    ...renderTransfers(transfers),
    '',
    ...(closedLoops.some(({ cpuShare }) => cpuShare < BUSY_SHARE) ? [NOT_ALONE, ''] : []),
  ].join('\n')
}

function cellsOf(measured: Measured): Cells {
  const { run, cpuUs, floor } = measured
  return [
    ['applied per second', number(measured.appliedPerSecond)],
    ['applied / failed', `${measured.completed} / ${measured.failed}`],
    ['replies by status', statuses(run)],
    ['measured for', `${(run.durationMs / 1000).toFixed(1)} s`],
    ['transactions per commit', measured.batchSize.toFixed(1)],
    ['202: p50 / p99 / max', latency(run.latency)],
    ['final: p50 / p99 / max', `${latency(run.toFinal.polled)} (${run.toFinal.polled.count})`],
    ...PARTS.map((part) => [`CPU µs, ${part}`, cpuUs[part].toFixed(1)] as const),
    [`CPU µs, ${LEDGER_PARTS.join(' + ')}`, measured.ledgerCpuUs.toFixed(1)],
    ['floor µs: verify + sign', `${floor.verifyUs.toFixed(1)} + ${floor.signUs.toFixed(1)}`],
    ['CPU per transaction / floor', measured.floorRatio.toFixed(2)],
    ['processors in use', percent(measured.cpuShare)],
  ]
}
