/**
 * The output of `--json`: one object, identified by its `format` and `kind`. Times are in milliseconds where a name
 * ends in `Ms`, CPU times in microseconds where it ends in `Us`; shares are of 1. A measurement that was not selected,
 * or that failed, is null.
 */
import { writeFileSync } from 'node:fs'
import type { EventsMeasured } from '../scenes/events.ts'
import type { GrowthMeasured } from '../scenes/growth.ts'
import type { HandOffMeasured } from '../scenes/hand-off.ts'
import type { FairnessMeasured } from '../scenes/fairness.ts'
import type { HostileMeasured } from '../scenes/hostile.ts'
import type { ComparedRow, KeptRow } from './comparison.ts'
import type { IdleMeasured } from '../scenes/idle.ts'
import type { Machine } from './machine.ts'
import type { Measured } from '../scenes/measure.ts'
import type { LowLoadMeasured } from '../scenes/open-submissions.ts'
import type { BenchOptions, MeasurementName } from '../options.ts'
import type { PgbenchMeasured } from '../scenes/pgbench.ts'
import type { PlainMeasured } from '../scenes/plain.ts'
import type { QueriesMeasured } from '../scenes/queries.ts'
import type { RestartMeasured } from '../scenes/restart.ts'
import type { SoakReport } from '../scenes/soak.ts'
import type { StepsReport } from '../scenes/steps.ts'
import type { TransfersMeasured } from '../scenes/transfers.ts'

/** Raised when a member changes its meaning or is removed, not for new members. */
export const REPORT_FORMAT = 2

/** Of one ledger. */
export interface BenchReport {
  readonly options: BenchOptions
  readonly machine: Machine
  /** RFC 3339. */
  readonly startedAt: string
  readonly durationMs: number
  /** Share of the processors, before the start. */
  readonly othersBefore: number
  readonly idle: IdleMeasured | null
  readonly submit: readonly Measured[] | null
  readonly few: readonly Measured[] | null
  readonly batches: Measured | null
  readonly transfers: readonly TransfersMeasured[] | null
  readonly lowLoad: LowLoadMeasured | null
  readonly queries: QueriesMeasured | null
  readonly handOff: readonly HandOffMeasured[] | null
  readonly hostile: readonly HostileMeasured[] | null
  readonly fairness: readonly FairnessMeasured[] | null
  readonly events: readonly EventsMeasured[] | null
  readonly restart: RestartMeasured | null
  readonly pgbench: PgbenchMeasured | null
  readonly plain: readonly PlainMeasured[] | null
  readonly failures: readonly { readonly measurement: MeasurementName; readonly message: string }[]
}

/** The same figures as on the page, and their ratios to an earlier run. */
export interface Summary {
  readonly rows: readonly KeptRow[]
  /** The run for comparison; null if there is none. */
  readonly against: string | null
  readonly compared: readonly ComparedRow[]
}

/** Of ledgers with one node, two, and so on. */
export interface ScalingMeasured {
  readonly nodes: number
  readonly run: Measured
}

/** Of ledgers of several sizes; the rates, latencies and costs of each are those of the other reports. */
export interface GrowthReport {
  /** RFC 3339. */
  readonly startedAt: string
  readonly durationMs: number
  readonly sizes: readonly GrowthMeasured[]
  /** The reason why a size could not be measured; larger ones were not tried. */
  readonly failure: string | null
}

export type JsonReport =
  | ({ readonly kind: 'ledger' } & BenchReport & Summary)
  | { readonly kind: 'scaling'; readonly machine: Machine; readonly scaling: readonly ScalingMeasured[] }
  | ({ readonly kind: 'steps'; readonly machine: Machine } & StepsReport)
  | ({ readonly kind: 'growth'; readonly machine: Machine } & GrowthReport)
  | ({ readonly kind: 'soak'; readonly machine: Machine } & SoakReport)

/** Does nothing without a file. */
export function writeReport(file: string | undefined, report: JsonReport): void {
  if (file === undefined) return
  writeFileSync(file, `${JSON.stringify({ format: REPORT_FORMAT, ...report }, null, 2)}\n`)
}
