/** Makes tiles on worker threads. */
import { Worker } from 'node:worker_threads'
import type { OtherMaker, StartTileMaker } from './liability-tile-makers.ts'
import type { MadeTiles } from './liability-tiles.ts'

/** Limit of the JavaScript heap. Large buffers are outside it. */
const LIMITS = { maxOldGenerationSizeMb: 256 } as const

/** In the same directory, compiled or not. */
const WORKER = new URL(`./liability-tile-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

interface Waiting {
  readonly resolve: (made: MadeTiles) => void
  readonly reject: (problem: Error) => void
}

/** The threads end with the thread that starts them. */
export function createTileThreads(program: URL = WORKER): StartTileMaker {
  return (secrets): OtherMaker => {
    const worker = new Worker(program, { workerData: secrets, resourceLimits: LIMITS })
    const waiting: Waiting[] = []
    let problem: Error | undefined
    const fail = (because: Error): void => {
      problem ??= because
      for (const { reject } of waiting.splice(0)) reject(problem)
    }
    worker.on('message', (made: MadeTiles) => waiting.shift()?.resolve(made))
    worker.once('error', (error) => fail(error instanceof Error ? error : new Error('a thread failed')))
    worker.once('exit', () => fail(new Error('a thread ended')))
    return {
      make: (batch) =>
        new Promise((resolve, reject) => {
          if (problem !== undefined) {
            reject(problem)
            return
          }
          waiting.push({ resolve, reject })
          worker.postMessage(batch, [batch.records.buffer, batch.ends.buffer])
        }),
      end: () => worker.postMessage(null, []),
    }
  }
}
