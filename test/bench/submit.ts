/** Submissions as fast as they get through, one in a request and many. */
import type { LedgerBench } from './ledger-bench.ts'
import { BATCH_SIZE } from './load-messages.ts'
import { measure, type Measured } from './measure.ts'

/** Requests: with a hundred submissions each as many are under way as the mailboxes take. */
const BATCH_CONNECTIONS = 8

export async function measureSubmissions(bench: LedgerBench): Promise<readonly Measured[]> {
  const random = await measure(bench, 'random', 'random accounts')
  bench.rate.note(random.appliedPerSecond)
  return [random, await measure(bench, 'hot', 'one account')]
}

export async function measureFew(bench: LedgerBench): Promise<readonly Measured[]> {
  return [await measure(bench, 'ten', 'ten accounts'), await measure(bench, 'pair', 'two by turns')]
}

export function measureBatches(bench: LedgerBench): Promise<Measured> {
  return measure(bench, 'batch', `batches of ${BATCH_SIZE}`, {
    connections: BATCH_CONNECTIONS,
    perRequest: BATCH_SIZE,
  })
}
