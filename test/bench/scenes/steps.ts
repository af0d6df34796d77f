/**
 * The cost of an order on a node's main thread by the number of assets and holds of its account: the step, and the
 * statement that commits it. In this process, without PostgreSQL; signatures are neither made nor verified.
 */
import { performance } from 'node:perf_hooks'
import { type Sizes, StepScene } from './steps-scene.ts'
import { say } from '../context.ts'
import { thisMachine } from '../report/machine.ts'
import type { BenchOptions } from '../options.ts'
import { writeReport } from '../report/report-json.ts'
import { renderSteps } from '../report/report.ts'

/** Median times of one order in microseconds. */
export interface StepCost {
  readonly stepUs: number
  readonly statementUs: number
  readonly wholeUs: number
}

/** Of an account with this number of other assets, and this number of holds of pending transfers. */
export interface StepsMeasured extends Sizes {
  readonly credit: StepCost
  readonly transfer: StepCost
  readonly conclude: StepCost
}

export interface StepsReport {
  readonly byAssets: readonly StepsMeasured[]
  readonly byHolds: readonly StepsMeasured[]
}

const ASSETS = [0, 3, 100, 1_000, 10_000] as const
const HOLDS = [0, 100, 1_000, 4_000] as const
/** The sizes take turns, so that other work on the machine affects all of them. */
const TURNS = 20
const ROUNDS_A_TURN = 20
const WARM_UP_ROUNDS = 1_000

const ORDERS = ['credit', 'transfer', 'conclude'] as const

interface Samples {
  readonly sizes: Sizes
  readonly scene: StepScene
  readonly times: Readonly<Record<(typeof ORDERS)[number], { stepUs: number; statementUs: number }[]>>
}

/** The exit code. */
export function measureSteps(options: BenchOptions): number {
  say('Measuring steps and statements ...')
  const warming = samplesOf({ assets: 3, holds: 3 })
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) measureRound(warming)
  const byAssets = ASSETS.map((assets) => samplesOf({ assets, holds: 0 }))
  const byHolds = HOLDS.map((holds) => samplesOf({ assets: 0, holds }))
  const all = [...byAssets, ...byHolds]
  for (const samples of all) measureRound(samples)
  for (const samples of all) forget(samples)
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const samples of all) for (let round = 0; round < ROUNDS_A_TURN; round += 1) measureRound(samples)
  }
  const report: StepsReport = { byAssets: byAssets.map(measuredIn), byHolds: byHolds.map(measuredIn) }
  process.stdout.write(renderSteps(report))
  writeReport(options.json, { kind: 'steps', machine: thisMachine(), ...report })
  return 0
}

function samplesOf(sizes: Sizes): Samples {
  return { sizes, scene: new StepScene(sizes), times: { credit: [], transfer: [], conclude: [] } }
}

/** The first round of a scene also fills caches. */
function forget({ times }: Samples): void {
  for (const order of ORDERS) times[order].length = 0
}

/** A credit, a transfer and its end: afterwards the account has as many assets and holds as before. */
function measureRound({ scene, times }: Samples): void {
  for (const order of ORDERS) {
    const pending = scene.next(order)
    const beganMs = performance.now()
    const draft = scene.step(pending)
    const steppedMs = performance.now()
    scene.write(draft)
    const writtenMs = performance.now()
    scene.apply(draft)
    times[order].push({ stepUs: 1_000 * (steppedMs - beganMs), statementUs: 1_000 * (writtenMs - steppedMs) })
  }
}

function measuredIn({ sizes, times }: Samples): StepsMeasured {
  const { credit, transfer, conclude } = times
  return { ...sizes, credit: costOf(credit), transfer: costOf(transfer), conclude: costOf(conclude) }
}

function costOf(times: readonly { readonly stepUs: number; readonly statementUs: number }[]): StepCost {
  return {
    stepUs: median(times.map(({ stepUs }) => stepUs)),
    statementUs: median(times.map(({ statementUs }) => statementUs)),
    wholeUs: median(times.map(({ stepUs, statementUs }) => stepUs + statementUs)),
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
}
