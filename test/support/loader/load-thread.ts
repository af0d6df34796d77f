/** A thread that makes accounts. Runs from the build: the runtime does not take TypeScript. */
import { parentPort, workerData } from 'node:worker_threads'
import { createServiceKeySeals } from '../../../infra/keys/service-key-seals.ts'
import { createServiceKeys } from '../../../infra/postgres/service-keys-postgres.ts'
import { createSystemClock } from '../../../infra/system/clock-system.ts'
import { createAccountSource, type LoadSetup } from './account-source.ts'
import type { LoadChunk } from './load-chunk.ts'

export interface ThreadSetup {
  readonly setup: LoadSetup
  /** Where the keys are that sign receipts. */
  readonly url: string
}

export type ThreadOrder =
  | { readonly kind: 'make'; readonly number: number; readonly from: number; readonly to: number }
  | { readonly kind: 'close' }

export type ThreadReply = { readonly number: number } & (
  | { readonly kind: 'made'; readonly chunk: LoadChunk }
  | { readonly kind: 'failed'; readonly message: string }
)

const { setup, url } = workerData as ThreadSetup
const { masterKey, ledger } = setup
const seals = createServiceKeySeals({ current: masterKey, previous: [] })
const keys = await createServiceKeys({ url, seals, clock: createSystemClock() })
// A buffer arrives as plain bytes.
const sealedShardSecret = Buffer.from(ledger.sealedShardSecret)
const sealedIndexSecret = ledger.sealedIndexSecret && Buffer.from(ledger.sealedIndexSecret)
const source = createAccountSource({ ...setup, ledger: { ...ledger, sealedShardSecret, sealedIndexSecret } }, keys)

parentPort?.on('message', (order: ThreadOrder) => {
  if (order.kind === 'make') void make(order)
  else void keys.close().finally(() => parentPort?.close())
})

async function make({ number, from, to }: Extract<ThreadOrder, { readonly kind: 'make' }>): Promise<void> {
  try {
    const chunk = await source.accounts(from, to)
    const buffers = chunk.tables.map(({ bytes }) => bytes.buffer)
    parentPort?.postMessage({ kind: 'made', number, chunk } satisfies ThreadReply, buffers)
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
    parentPort?.postMessage({ kind: 'failed', number, message } satisfies ThreadReply, [])
  }
}
