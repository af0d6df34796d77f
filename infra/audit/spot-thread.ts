/**
 * Runs each pass on its own thread, so that a wait for one delays no other.
 *   H1. A thread ends with its pass, after LONGEST_MS, or as it is told to.
 *   H2. What it may allocate is bounded.
 *   H3. It opens the ledger itself: threads do not share keys, so it receives the keys for reading as key objects.
 */
import { Worker } from 'node:worker_threads'
import type { KeyRing } from '../keys/wrapping-keys.ts'
import { AuditUnavailable } from './audit-reads.ts'
import type { SpotPass, SpotRequest, SpotResult } from './spot-pass.ts'

export interface SpotThreads {
  readonly run: SpotPass
  /** Ends those that run; whoever waits for one is told so. */
  readonly close: () => Promise<void>
}

/** What a thread is started with. */
export interface SpotTask {
  readonly request: SpotRequest
  readonly readingKeys: KeyRing
}

const LONGEST_MS = 300_000
const MOST_MIB = 512

export function createSpotThreads(readingKeys: KeyRing): SpotThreads {
  const threads = new Set<Worker>()
  return {
    run: async (request) => {
      const thread = new Worker(workerUrl(), {
        workerData: { request, readingKeys } satisfies SpotTask,
        resourceLimits: { maxOldGenerationSizeMb: MOST_MIB },
      })
      threads.add(thread)
      const late = setTimeout(() => void thread.terminate(), LONGEST_MS)
      try {
        return await resultOf(thread)
      } finally {
        clearTimeout(late)
        threads.delete(thread)
        await thread.terminate()
      }
    },
    close: async () => {
      await Promise.all([...threads].map((thread) => thread.terminate()))
    },
  }
}

/** Beside this file, built as this file is. */
function workerUrl(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './spot-worker.ts' : './spot-worker.js', import.meta.url)
}

function resultOf(thread: Worker): Promise<SpotResult> {
  return new Promise((resolve, reject) => {
    thread.once('message', (result: SpotResult) => resolve(result))
    thread.once('error', (cause: unknown) => reject(new AuditUnavailable('The pass was broken off.', { cause })))
    thread.once('exit', () => reject(new AuditUnavailable('The pass was ended before it was over.')))
  })
}
