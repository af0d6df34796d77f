/** What was measured of transfers between shards, for people. */
import { POLL_PAUSE_MS } from './follower.ts'
import { type Cells, costCells, LATENCY, latency, number, sample, statuses, table } from './report-table.ts'
import type { TransfersMeasured } from './transfers.ts'

export function renderTransfers(transfers: readonly TransfersMeasured[]): readonly string[] {
  return [
    'TRANSFERS between accounts of different shards',
    ...table(
      transfers.map(({ name }) => name),
      transfers.map(cellsOf),
    ),
    '',
    'A transfer is settled when the sender and the receiver, on different shards, have both completed it.',
    `Polled: looked at every ${POLL_PAUSE_MS} ms, so up to that much too long. Prefer: wait: the reply that a client gets,`,
    'which looks 0, 10, 25, 47, 81, 132 ms after the 202 and so on, each time half as late again: it comes in such steps.',
    'In the open loop a time begins when the request was to be sent; when it was sent late, that is part of it.',
  ]
}

function cellsOf(measured: TransfersMeasured): Cells {
  const { run, atEnd, drained, offeredPerSecond } = measured
  return [
    ['offered per second', offeredPerSecond === null ? 'as many as fit' : number(offeredPerSecond)],
    ['accepted per second', number(measured.acceptedPerSecond)],
    ['settled per second', number(measured.settledPerSecond)],
    ['at the end: accepted / settled / pending', `${atEnd.accepted} / ${atEnd.settled} / ${atEnd.pending}`],
    ['in the end: settled / failed', `${drained.settled} / ${drained.failed}`],
    ['nothing pending after', `${number(measured.drainedMs)} ms`],
    ['settled per second until then', number(measured.settledPerSecondToLast)],
    ['requests by status', statuses(run)],
    ['steps per commit (three a transfer)', measured.stepsPerCommit.toFixed(1)],
    [`202: ${LATENCY}`, latency(run.latency)],
    [`final, polled: ${LATENCY}`, sample(run.toFinal.polled)],
    [`final, Prefer: wait: ${LATENCY}`, sample(run.toFinal.waited)],
    [`sent late: ${LATENCY}`, run.lateness === null ? '' : latency(run.lateness)],
    ...costCells(measured, 'verify + 2 sign'),
  ]
}
