/** What was measured beside submissions, for people: queries, hand-off, restart, TPC-B. */
import type { HandOffMeasured } from './hand-off.ts'
import type { Measured } from './measure.ts'
import type { PgbenchMeasured } from './pgbench.ts'
import type { QueriesMeasured, QueryMeasured } from './queries.ts'
import { type Cells, costCells, grid, LATENCY, latency, number, statuses, table } from './report-table.ts'
import type { AccountsMeasured, RestartMeasured } from './restart.ts'

export function renderQueries({ transactions, queries }: QueriesMeasured): readonly string[] {
  return [
    `QUERIES on ${number(transactions)} transactions, one at a time`,
    ...grid(
      ['', 'p50 ms', 'p99 ms', 'asked', 'rows', 'total_count', 'CPU µs, edge', 'postgresql'],
      queries.map((query) => [
        query.name,
        query.latency.p50Ms.toFixed(1),
        query.latency.p99Ms.toFixed(1),
        number(query.latency.count),
        number(query.rows),
        countOf(query),
        number(query.edgeCpuUs),
        number(query.postgresqlCpuUs),
      ]),
    ),
    '',
    'Lists have pages of 100; where only total_count is asked for, of one. A later page has the count of the first.',
  ]
}

function countOf({ totalCount, exact }: QueryMeasured): string {
  if (totalCount === null) return ''
  return exact ? number(totalCount) : `${number(totalCount)} or more`
}

export function renderHandOff(measured: readonly HandOffMeasured[]): readonly string[] {
  return [
    `HAND-OFF under ${number(measured[0]?.offeredPerSecond ?? 0)} submissions a second at a constant rate`,
    ...grid(
      ['', 'at rest after', 'shards', `202: ${LATENCY}`, 'longest without, any account / all', '503', 'by status'],
      measured.map(({ event, settledMs, moved, run, unavailable }) => [
        event,
        settledMs === null ? '' : `${(settledMs / 1000).toFixed(1)} s`,
        moved === 0 ? '' : number(moved),
        latency(run.latency),
        `${number(run.gapsByAccount?.maxMs ?? 0)} / ${number(run.longestGapMs)} ms`,
        number(unavailable),
        statuses(run),
      ]),
    ),
    '',
    'A time begins when the submission was to be sent. Longest without: an acceptance, of the account that waited longest, and',
    'of all together; each account is submitted to at equal intervals, which the first row shows.',
  ]
}

export function renderRestart(measured: RestartMeasured): readonly string[] {
  const { cold, warm } = measured
  return [
    'RESTART of everything, in order',
    ...table(
      [''],
      [
        [
          ['stopped in', `${number(measured.stoppedMs)} ms`],
          ['ready after', `${number(measured.readyMs)} ms`],
          ['first submission accepted after', `${number(measured.firstAcceptedMs)} ms`],
        ],
      ],
    ).slice(1),
    '',
    ...table(
      [`${cold.accounts} accounts, cold`, 'the same, warm'],
      [cold, warm].map((accounts) => accountCellsOf(accounts)),
    ),
    '',
    `Cold against warm: ${(cold.ledgerCpuUs / warm.ledgerCpuUs).toFixed(2)} times the CPU. The processes had served one other account before.`,
  ]
}

function accountCellsOf(accounts: AccountsMeasured): Cells {
  return [
    ['accepted per second', number(accounts.perSecond)],
    [`202: ${LATENCY}`, latency(accounts.run.latency)],
    ...costCells(accounts, 'verify + sign'),
  ]
}

/** `random`: submissions to random accounts, where they were measured. */
export function renderPgbench(measured: PgbenchMeasured, random: Measured | undefined): readonly string[] {
  if (measured.skipped !== null) return [measured.skipped]
  const against =
    random === undefined
      ? []
      : [
          `Submissions to random accounts against it: ${(random.appliedPerSecond / measured.perSecond).toFixed(2)} times the rate.`,
        ]
  return [
    `TPC-B on the same PostgreSQL (${measured.version}, scale ${measured.scale}, ${measured.clients} clients, prepared statements)`,
    ...table(
      [''],
      [
        [
          ['transactions per second', number(measured.perSecond)],
          ['transactions / failed', `${measured.transactions} / ${measured.failed}`],
          [LATENCY, latency(measured.latency)],
          ['CPU µs, postgresql', measured.postgresqlCpuUs.toFixed(1)],
        ],
      ],
    ).slice(1),
    ...against,
  ]
}
