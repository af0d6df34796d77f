/** What was measured of one ledger, for people. */
import type { Cost } from './cost.ts'
import { renderHandOff, renderPgbench, renderQueries, renderRestart } from './report-operation.ts'
import type { BenchReport } from './report-json.ts'
import { renderBatches, renderHostile, renderOpenLoop, renderSubmissions } from './report-submissions.ts'
import { percent } from './report-table.ts'
import { renderTransfers } from './report-transfers.ts'

/** What other programs may take without being worth a word. */
const QUIET_SHARE = 0.05

export function renderReport(report: BenchReport): string {
  const { options, machine, submit, batches, openLoop, transfers, queries, handOff, hostile, restart, pgbench } = report
  const sections: readonly (readonly string[])[] = [
    [
      `${machine.cores} cores (${machine.model}), Node.js ${machine.node}; ${options.connections} connections, ` +
        `${options.edges} edge, ${options.nodes} node; the load generator runs on the same cores`,
    ],
    submit === null ? [] : renderSubmissions(submit),
    batches === null ? [] : renderBatches(batches),
    openLoop === null ? [] : renderOpenLoop(openLoop),
    transfers === null ? [] : renderTransfers(transfers),
    queries === null ? [] : renderQueries(queries),
    handOff === null ? [] : renderHandOff(handOff),
    hostile === null ? [] : renderHostile(hostile),
    restart === null ? [] : renderRestart(restart),
    pgbench === null ? [] : renderPgbench(pgbench, submit?.[0]),
    company(costsIn(report)),
    report.failures.map(({ measurement, message }) => `${measurement} FAILED: ${message}`),
  ]
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => `\n${lines.join('\n')}\n`)
    .join('')
}

function costsIn({ submit, batches, openLoop, transfers, restart }: BenchReport): readonly Cost[] {
  return [
    ...(submit ?? []),
    ...(batches === null ? [] : [batches]),
    ...(openLoop ?? []),
    ...(transfers ?? []),
    ...(restart === null ? [] : [restart.cold, restart.warm]),
  ]
}

/** Whether the processors were all its own. */
function company(costs: readonly Cost[]): readonly string[] {
  const most = Math.max(0, ...costs.map(({ othersShare }) => othersShare))
  if (most < QUIET_SHARE) return []
  return [
    `The processors were not all its own: other programs had up to ${percent(most)} of them, and rates and latencies are worse for it.`,
  ]
}
