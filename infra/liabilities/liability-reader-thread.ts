/** Readers of a run on threads of their own. */
import { Worker } from 'node:worker_threads'
import type { ReaderOutcome, StartReader } from './liability-readers.ts'

/** Of JavaScript's own heap: what is large is not on it. A list of all tokens is. */
const MAX_HEAP_MB = 1_024
/** What a row leaves behind is dead with the next: with room for many of them, few are copied before they die. */
const LIMITS = { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: 96 } as const

/** Compiled or not, it is beside this file. */
const WORKER = new URL(`./liability-reader-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

/** They end with the thread that starts them. */
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
