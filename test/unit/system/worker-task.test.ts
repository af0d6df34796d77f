/** Tests that the caller gets a result or an error in time, however a thread ends, and that no thread keeps running. */
import { afterEach, expect, test } from 'vitest'
import { readMasterKey } from '../../../infra/keys/master-key.ts'
import { readingRing, wrappingKey } from '../../../infra/keys/wrapping-keys.ts'
import { createThreads, startThread, ThreadFailed, type Threads } from '../../../infra/system/worker-task.ts'

const HOUR_MS = 3_600_000

const opened: Threads<unknown, unknown>[] = []
afterEach(() => Promise.all(opened.splice(0).map((threads) => threads.close())))

function programOf(text: string, deadlineMs = HOUR_MS) {
  const source = `import { parentPort, workerData } from 'node:worker_threads'; ${text}`
  return { url: new URL(`data:text/javascript,${encodeURIComponent(source)}`), deadlineMs, limits: {} }
}

function threadsOf(text: string, deadlineMs?: number): Threads<unknown, unknown> {
  const threads = createThreads(programOf(text, deadlineMs))
  opened.push(threads)
  return threads
}

test('keys arrive as opaque objects, and still open sealed texts', async () => {
  const keys = readingRing({ current: readMasterKey(Buffer.alloc(32, 5).toString('base64url')), previous: [] })
  const threads = threadsOf(
    `const key = workerData.current.keys['data-keys']
     parentPort.postMessage([JSON.stringify(key), key.export().toString('hex')])`,
  )
  expect(await threads.run(keys)).toEqual(['{}', wrappingKey(keys.current, 'data-keys').export().toString('hex')])
})

test.for([
  ['that fails', `throw new TypeError('broken')`, 'TypeError'],
  ['that ends without a result', 'process.exit(0)', 'thread_ended'],
  ['that is no program', 'this is no program', 'SyntaxError'],
])('a thread %s has failed', async ([, program = '', code]) => {
  await expect(threadsOf(program).run(null)).rejects.toMatchObject({ name: 'ThreadFailed', code })
})

test('a thread that does not end in time is terminated, as are running threads at the close', async () => {
  await expect(threadsOf('for (;;);', 50).run(null)).rejects.toMatchObject({ code: 'deadline' })
  const threads = threadsOf('setInterval(() => undefined, 1000)')
  const results = [threads.run(null), threads.run(null)].map((result) => result.catch((error: unknown) => error))
  await threads.close()
  expect(await Promise.all(results)).toEqual(results.map(() => new ThreadFailed('thread_ended')))
})

test('a thread that its caller ends has no result', async () => {
  const { result, end } = startThread(programOf('setInterval(() => undefined, 1000)'), null)
  await end()
  await expect(result).rejects.toMatchObject({ code: 'thread_ended' })
})
