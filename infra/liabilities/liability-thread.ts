/** Runs a proof of liabilities on a worker thread, so that its failure cannot stop the caller. */
import { Worker } from 'node:worker_threads'
import type { LiabilityOutcome, LiabilityTask } from './liability-run.ts'

export interface LiabilityThreads {
  /** Never rejects: the outcome of a thread that crashes or misses its deadline is `failed`. */
  readonly run: (task: LiabilityTask) => Promise<LiabilityOutcome>
  /** Ends all threads. */
  readonly close: () => Promise<void>
}

/** For the wait for other runs, the snapshot and the trees. */
const DEADLINE_MS = 180_000
/** Limit of the JavaScript heap, which holds the list of all tokens. Books are outside it. */
const MAX_HEAP_MB = 1_024
/** Objects of a row are garbage with the next row: a large young generation avoids copying them. */
const LIMITS = { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: 96 } as const

/** In the same directory, compiled or not. */
const WORKER = new URL(`./liability-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

export interface LiabilityThreadOptions {
  readonly deadlineMs?: number
  /** Program of a thread. It gets the task as `workerData` and posts one outcome. */
  readonly program?: URL
}

export function createLiabilityThreads({
  deadlineMs = DEADLINE_MS,
  program = WORKER,
}: LiabilityThreadOptions = {}): LiabilityThreads {
  const running = new Set<Worker>()

  function start(task: LiabilityTask): Worker {
    const worker = new Worker(program, { workerData: task, resourceLimits: LIMITS })
    running.add(worker)
    return worker
  }

  function outcomeOf(worker: Worker): Promise<LiabilityOutcome> {
    return new Promise((resolve) => {
      const late = setTimeout(() => end({ kind: 'failed', code: 'deadline' }), deadlineMs)
      function end(outcome: LiabilityOutcome): void {
        clearTimeout(late)
        running.delete(worker)
        void worker.terminate()
        resolve(outcome)
      }
      worker.once('message', end)
      worker.once('error', (error) => end({ kind: 'failed', code: error.name }))
      worker.once('exit', () => end({ kind: 'failed', code: 'thread_ended' }))
    })
  }

  return {
    run: async (task) => {
      try {
        return await outcomeOf(start(task))
      } catch {
        return { kind: 'failed', code: 'thread_not_started' }
      }
    },
    close: async () => {
      await Promise.all([...running].map((worker) => worker.terminate()))
    },
  }
}
