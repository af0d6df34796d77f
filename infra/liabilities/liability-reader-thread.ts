/** Runs the readers of a run on worker threads. */
import { Worker } from 'node:worker_threads'
import type { ReaderOutcome, StartReader } from './liability-readers.ts'

/** Limit of the JavaScript heap, which holds the list of all tokens. Books are outside it. */
const MAX_HEAP_MB = 1_024
/** Objects of a row are garbage with the next row: a large young generation avoids copying them. */
const LIMITS = { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: 96 } as const

/** In the same directory, compiled or not. */
const WORKER = new URL(`./liability-reader-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

/** The threads end with the thread that starts them. */
export function createReaderThreads(program: URL = WORKER): StartReader {
  return (task) => {
    const worker = new Worker(program, { workerData: task, resourceLimits: LIMITS })
    const end = (): void => void worker.terminate()
    const outcome = new Promise<ReaderOutcome>((resolve) => {
      worker.once('message', resolve)
      worker.once('error', (error) => resolve({ kind: 'failed', code: error.name }))
      worker.once('exit', () => resolve({ kind: 'failed', code: 'thread_ended' }))
    })
    return { outcome, end }
  }
}
