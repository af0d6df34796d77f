/**
 * Threads that take seeds in turn. A run forbids real time in its thread, so each thread runs one simulation at a time.
 */
import { Worker } from 'node:worker_threads'
import type { SeedResult, WorkerData } from './seed-worker.ts'

export interface Pool {
  readonly workers: number
  readonly data: WorkerData
  /** The next seed; undefined after the last. */
  readonly next: () => number | undefined
  readonly onResult: (result: SeedResult) => void
}

/** A run leaves many short-lived objects: a larger young generation saves garbage collection. */
const YOUNG = { maxYoungGenerationSizeMb: 128 }

/** Resolves when every thread has finished; rejects if one fails. */
export async function runPool({ workers, data, next, onResult }: Pool): Promise<void> {
  const threads = Array.from(
    { length: workers },
    () => new Worker(workerUrl(), { workerData: data, resourceLimits: YOUNG }),
  )
  try {
    await Promise.all(threads.map((thread) => work(thread, next, onResult)))
  } finally {
    await Promise.all(threads.map((thread) => thread.terminate()))
  }
}

function work(thread: Worker, next: Pool['next'], onResult: Pool['onResult']): Promise<void> {
  return new Promise((resolve, reject) => {
    let running: number | undefined
    const give = (): void => {
      running = next()
      if (running === undefined) resolve()
      else thread.postMessage(running, [])
    }
    thread.on('message', (result: SeedResult) => {
      onResult(result)
      give()
    })
    thread.on('error', (error) => reject(new Error(`seed ${running} broke its thread down`, { cause: error })))
    thread.on('exit', (code) => reject(new Error(`seed ${running} ended its thread with ${code}`)))
    give()
  })
}

/** The worker file next to this one, compiled or not. */
function workerUrl(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './seed-worker.ts' : './seed-worker.js', import.meta.url)
}
