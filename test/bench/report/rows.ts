/** The write path as one row of figures for each run, for the page and for comparison with later runs. */
import type { Cost } from './cost.ts'
import { type CpuByPart, LEDGER_PARTS, type Part } from './cpu.ts'
import type { RunResult } from '../load/load-messages.ts'
import type { Measured } from '../scenes/measure.ts'
import type { OpenMeasured } from '../scenes/open-submissions.ts'
import type { PlainMeasured } from '../scenes/plain.ts'
import type { BenchReport } from './report-json.ts'
import type { Latency } from './statistics.ts'
import type { TransfersMeasured } from '../scenes/transfers.ts'

/** Processor times are microseconds for each transaction, for `idle` in a second; WAL likewise. Shares are of 1. */
export const FIGURES = [
  'perSecond',
  'p50Ms',
  'p99Ms',
  'finalP50Ms',
  'finalP99Ms',
  'perCommit',
  'busyShare',
  'othersShare',
  'cpuUs',
  'edgeUs',
  'nodeUs',
  'natsUs',
  'serverUs',
  'postgresqlUs',
  'floorRatio',
  'auditorUs',
  'loadUs',
  'walBytes',
] as const
export type FigureName = (typeof FIGURES)[number]
export type Figures = Readonly<Partial<Record<FigureName, number>>>

export interface Row {
  readonly name: string
  readonly figures: Figures
  /** The resource that bounds the rate. */
  readonly boundBy?: string
}

export type MeasuredParts = Pick<
  BenchReport,
  'idle' | 'submit' | 'few' | 'batches' | 'transfers' | 'lowLoad' | 'plain' | 'pgbench'
>

export const PLAIN_PAIRS = [
  ['random accounts', 'plain: orders'],
  ['transfers', 'plain: transfers'],
] as const

export function rowsOf(report: MeasuredParts): readonly Row[] {
  const { idle, submit, few, batches, transfers, lowLoad, plain, pgbench } = report
  return [
    ...(submit ?? []).map(closedRow),
    ...(few ?? []).map(closedRow),
    ...(batches === null ? [] : [closedRow(batches)]),
    ...(transfers ?? []).map(transfersRow),
    ...(lowLoad === null ? [] : [closedRow(lowLoad.lone), ...lowLoad.open.map(openRow)]),
    ...(idle === null ? [] : [{ name: 'idle', figures: { ...machineFigures(idle), ...cpuFigures(idle.cpuUs) } }]),
    ...(plain ?? []).map(plainRow),
    ...(pgbench === null || pgbench.skipped !== null
      ? []
      : [
          {
            name: 'pgbench: TPC-B',
            figures: {
              perSecond: pgbench.perSecond,
              ...answered(pgbench.latency),
              postgresqlUs: pgbench.postgresqlCpuUs,
              walBytes: pgbench.walBytes,
            },
          },
        ]),
  ]
}

function closedRow({ name, run, appliedPerSecond, batchSize, boundBy, ...cost }: Measured): Row {
  const own = { perSecond: appliedPerSecond, perCommit: batchSize }
  return { name, boundBy, figures: { ...own, ...answered(run.latency), ...final(run.toFinal), ...costFigures(cost) } }
}

function transfersRow({ name, run, settledPerSecond, stepsPerCommit, boundBy, ...cost }: TransfersMeasured): Row {
  const own = { perSecond: settledPerSecond, perCommit: stepsPerCommit }
  return { name, boundBy, figures: { ...own, ...answered(run.latency), ...final(run.toFinal), ...costFigures(cost) } }
}

function openRow({ name, run, followed, appliedPerSecond, batchSize, ...cost }: OpenMeasured): Row {
  const own = { perSecond: appliedPerSecond, perCommit: batchSize }
  return {
    name,
    figures: {
      ...own,
      ...answered(run.latency),
      ...(followed === null ? {} : final(followed.toFinal)),
      ...costFigures(cost),
    },
  }
}

function plainRow({ name, run, perSecond, cpuUs, ...rest }: PlainMeasured): Row {
  const { server: serverUs, postgresql: postgresqlUs, loadGenerator: loadUs } = cpuUs
  const own = { perSecond, cpuUs: serverUs + postgresqlUs, serverUs, postgresqlUs, loadUs }
  // A durable transaction is final.
  return { name, figures: { ...own, ...answered(run.latency), ...final(run.latency), ...machineFigures(rest) } }
}

function costFigures({ cpuUs, floorRatio, ...rest }: Omit<Cost, 'boundBy'>): Figures {
  return { ...machineFigures(rest), ...cpuFigures(cpuUs), floorRatio, loadUs: cpuUs['load generator'] }
}

function machineFigures({ cpuShare, othersShare, walBytes }: Pick<Cost, 'cpuShare' | 'othersShare' | 'walBytes'>) {
  return { busyShare: cpuShare, othersShare, walBytes }
}

function cpuFigures(cpuUs: CpuByPart): Figures {
  const of = (parts: readonly Part[]): number => parts.reduce((sum, part) => sum + cpuUs[part], 0)
  return {
    cpuUs: of(LEDGER_PARTS),
    edgeUs: cpuUs.edge,
    nodeUs: cpuUs.node,
    natsUs: cpuUs['nats-server'],
    postgresqlUs: cpuUs.postgresql,
    auditorUs: cpuUs.auditor,
  }
}

function answered({ p50Ms, p99Ms }: Latency): Figures {
  return { p50Ms, p99Ms }
}

function final(latency: Latency): Figures {
  return latency.count === 0 ? {} : { finalP50Ms: latency.p50Ms, finalP99Ms: latency.p99Ms }
}

/** Every run over HTTP, by the name of its row. */
export function runsOf({ submit, few, batches, transfers, lowLoad, plain }: MeasuredParts) {
  const named: readonly { readonly name: string; readonly run: RunResult; readonly othersShare: number }[] = [
    ...(submit ?? []),
    ...(few ?? []),
    ...(batches === null ? [] : [batches]),
    ...(transfers ?? []),
    ...(lowLoad === null ? [] : [lowLoad.lone, ...lowLoad.open]),
    ...(plain ?? []),
  ]
  return named
}
