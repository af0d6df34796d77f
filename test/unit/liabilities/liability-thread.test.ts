/** Tests that the caller gets an outcome in time, however a thread ends, and that no thread keeps running. */
import { afterEach, expect, test } from 'vitest'
import { createLiabilityThreads, type LiabilityThreads } from '../../../infra/liabilities/liability-thread.ts'
import { readMasterKey } from '../../../infra/keys/master-key.ts'
import { readingRing, wrappingKey } from '../../../infra/keys/wrapping-keys.ts'
import type { LiabilityTask } from '../../../infra/liabilities/liability-run.ts'

const TASK: LiabilityTask = {
  url: 'postgres://unused',
  readingKeys: readingRing({ current: readMasterKey(Buffer.alloc(32, 5).toString('base64url')), previous: [] }),
  sealingKey: new Uint8Array(32).fill(7),
  sharesEach: 2,
  maxRows: 1,
  capacityBytes: 1,
  maxReaders: 1,
  rowsAReader: 1,
  snapshotTimeoutMs: 1,
}
const HOUR_MS = 3_600_000

const opened: LiabilityThreads[] = []
afterEach(() => Promise.all(opened.splice(0).map((threads) => threads.close())))

/** Threads that run this program. */
function threadsOf(program: string, deadlineMs = HOUR_MS): LiabilityThreads {
  const source = `import { parentPort, workerData } from 'node:worker_threads'; ${program}`
  const threads = createLiabilityThreads({
    deadlineMs,
    program: new URL(`data:text/javascript,${encodeURIComponent(source)}`),
  })
  opened.push(threads)
  return threads
}

test('keys arrive as opaque objects, and still open sealed texts', async () => {
  const threads = threadsOf(
    `const key = workerData.readingKeys.current.keys['data-keys']
     parentPort.postMessage({ kind: 'unreconciled', tokenIds: [JSON.stringify(key), key.export().toString('hex')] })`,
  )
  const key = wrappingKey(TASK.readingKeys.current, 'data-keys').export().toString('hex')
  expect(await threads.run(TASK)).toEqual({ kind: 'unreconciled', tokenIds: ['{}', key] })
})

test.for([
  ['that fails', `throw new TypeError('broken')`, 'TypeError'],
  ['that ends without a word', 'process.exit(0)', 'thread_ended'],
  ['that is no program', 'this is no program', 'SyntaxError'],
])('a thread %s has failed', async ([, program = '', code]) => {
  expect(await threadsOf(program).run(TASK)).toEqual({ kind: 'failed', code })
})

test('a thread that does not end in time is ended, and so are those that run when it is closed', async () => {
  expect(await threadsOf('for (;;);', 50).run(TASK)).toEqual({ kind: 'failed', code: 'deadline' })
  const threads = threadsOf('setInterval(() => undefined, 1000)')
  const outcomes = [threads.run(TASK), threads.run(TASK)]
  await threads.close()
  expect(await Promise.all(outcomes)).toEqual(outcomes.map(() => ({ kind: 'failed', code: 'thread_ended' })))
})
