/** What was measured of submissions, for people. */
import type { Measured } from './measure.ts'
import type { HostileMeasured } from './hostile.ts'
import type { OpenMeasured } from './open-submissions.ts'
import { type Cells, costCells, LATENCY, latency, number, percent, sample, statuses, table } from './report-table.ts'

const FLOOR = 'verify + sign'

export function renderSubmissions(measured: readonly Measured[]): readonly string[] {
  const many = measured[0]
  const one = measured.at(-1)
  const share =
    many === undefined || one === undefined ? '' : percent(one.appliedPerSecond / Math.max(1, many.appliedPerSecond))
  return [
    'SUBMISSIONS, as many as get through',
    ...table(
      measured.map(({ name }) => name),
      measured.map((each) => cellsOf(each, '202')),
    ),
    '',
    `One account against many: ${share}`,
  ]
}

export function renderBatches(measured: Measured): readonly string[] {
  return [
    'BATCHES, as many as get through; what is per transaction is per submission in a batch',
    ...table([measured.name], [cellsOf(measured, 'answer to a whole batch')]),
  ]
}

export function renderOpenLoop(measured: readonly OpenMeasured[]): readonly string[] {
  return [
    'SUBMISSIONS at a constant rate, to random accounts',
    ...table(
      measured.map(({ name }) => name),
      measured.map(openCellsOf),
    ),
    '',
    'A time begins when the submission was to be sent; when it was sent late, that is part of it: a stall makes all that',
    'arrive in it late. Counts are those of the ledger at the moment when the last one was due.',
  ]
}

export function renderHostile(measured: readonly HostileMeasured[]): readonly string[] {
  return [
    'SUBMISSIONS beside requests without a token',
    ...table(
      measured.map(({ kind }) => kind),
      measured.map(({ orders, sentPerSecond, statuses: replies }) => [
        ['hostile requests per second', number(sentPerSecond)],
        ['hostile requests by status', statuses({ statuses: replies })],
        ...openCellsOf(orders),
      ]),
    ),
  ]
}

function cellsOf(measured: Measured, answer: string): Cells {
  const { run } = measured
  return [
    ['applied per second', number(measured.appliedPerSecond)],
    ['applied / failed', `${measured.completed} / ${measured.failed}`],
    ['requests by status', statuses(run)],
    ['measured for', `${(run.durationMs / 1000).toFixed(1)} s`],
    ['transactions per commit', measured.batchSize.toFixed(1)],
    [`${answer}: ${LATENCY}`, latency(run.latency)],
    [`final, polled: ${LATENCY}`, sample(run.toFinal.polled)],
    ['longest without an acceptance', `${number(run.longestGapMs)} ms`],
    ...costCells(measured, FLOOR),
  ]
}

function openCellsOf(measured: OpenMeasured): Cells {
  const { run, atEnd } = measured
  return [
    ['offered per second', number(measured.offeredPerSecond)],
    ['accepted / applied per second', `${number(measured.acceptedPerSecond)} / ${number(measured.appliedPerSecond)}`],
    ['at the end: accepted, not applied', number(atEnd.pending)],
    ['at the end: not answered', number(measured.unanswered)],
    ['all applied after', `${number(measured.drainedMs)} ms`],
    ['in the end: applied / failed', `${measured.drained.completed} / ${measured.drained.failed}`],
    ['requests by status', statuses(run)],
    ['transactions per commit', measured.batchSize.toFixed(1)],
    [`202: ${LATENCY}`, latency(run.latency)],
    [`final, polled: ${LATENCY}`, sample(run.toFinal.polled)],
    [`final, Prefer: wait: ${LATENCY}`, sample(run.toFinal.waited)],
    [`sent late: ${LATENCY}`, run.lateness === null ? '' : latency(run.lateness)],
    ['longest without an acceptance', `${number(run.longestGapMs)} ms`],
    ...costCells(measured, FLOOR),
  ]
}
