/** Runs the proof of liabilities on a thread of its own: whatever becomes of it, the one that asks goes on. */
import { Worker } from 'node:worker_threads'
import type { LiabilityOutcome, LiabilityTask } from './liability-run.ts'

export interface LiabilityThreads {
  /** Never rejects: a thread that dies or does not end in time has failed. */
  readonly run: (task: LiabilityTask) => Promise<LiabilityOutcome>
  /** Ends what runs. */
  readonly close: () => Promise<void>
}

/** Waiting for other runs, the snapshot and the trees together. */
const DEADLINE_MS = 180_000
/** Of JavaScript's own heap: what is large is not on it. A list of all tokens is. */
const MAX_HEAP_MB = 1_024
/** What a row leaves behind is dead with the next: with room for many of them, few are copied before they die. */
const LIMITS = { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: 96 } as const

/** Compiled or not, it is beside this file. */
const WORKER = new URL(`./liability-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

export interface LiabilityThreadOptions {
  readonly deadlineMs?: number
  /** What a thread runs: takes the task as its data, and posts one outcome. */
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
