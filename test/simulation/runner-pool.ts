/** Threads that take seeds in turn. A run forbids real time in its thread, so each thread has the simulation to itself. */
import { Worker } from 'node:worker_threads'
import type { SeedResult, WorkerData } from './seed-worker.ts'

export interface Pool {
  readonly workers: number
  readonly data: WorkerData
  /** The next seed; undefined when there are no more. */
  readonly next: () => number | undefined
  readonly onResult: (result: SeedResult) => void
}

/** A run leaves much behind that is short-lived: with more room for it less of the time goes into clearing it away. */
const YOUNG = { maxYoungGenerationSizeMb: 128 }

/** Resolves when every thread is through; rejects if one breaks down. */
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

/** Beside this file, compiled or not as it is. */
function workerUrl(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './seed-worker.ts' : './seed-worker.js', import.meta.url)
}
