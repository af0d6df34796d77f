/** Submissions as fast as they get through, to ever fewer accounts; and many in one request. */
import { type LedgerBench } from './ledger-bench.ts'
import { BATCH_SIZE, type Scenario } from './load-messages.ts'
import { measure, type Measured } from './measure.ts'

/** Requests: with a hundred submissions each as many are under way as the mailboxes take. */
const BATCH_CONNECTIONS = 8

export async function measureSubmissions(bench: LedgerBench): Promise<readonly Measured[]> {
  const scenarios: readonly (readonly [scenario: Scenario, name: string])[] = [
    ['random', `${bench.options.accounts} accounts`],
    ['ten', 'ten accounts'],
    ['pair', 'two by turns'],
    ['hot', 'one account'],
  ]
  const measured: Measured[] = []
  for (const [scenario, name] of scenarios) {
    const one = await measure(bench, scenario, name)
    if (scenario === 'random') bench.rate.note(one.appliedPerSecond)
    measured.push(one)
  }
  return measured
}

export function measureBatches(bench: LedgerBench): Promise<Measured> {
  return measure(bench, 'batch', `batches of ${BATCH_SIZE}`, {
    connections: BATCH_CONNECTIONS,
    perRequest: BATCH_SIZE,
  })
}
