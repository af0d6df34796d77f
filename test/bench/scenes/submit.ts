/** Submissions at the highest possible rate, one or many in a request. */
import type { LedgerBench } from '../ledger-bench.ts'
import { BATCH_SIZE } from '../load/load-messages.ts'
import { measure, type Measured } from './measure.ts'

/** Requests in flight: with a hundred submissions each, as many as the mailboxes accept. */
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
