/**
 * Runs each pass on its own thread, so that a wait for one delays no other.
 *   H1. A thread ends with its pass, after LONGEST_MS, or on `close`.
 *   H2. Its heap is limited.
 *   H3. It opens the ledger itself: threads do not share keys, so it receives the keys for reading as key objects.
 */
import { Worker } from 'node:worker_threads'
import type { KeyRing } from '../keys/wrapping-keys.ts'
import { AuditUnavailable } from './audit-reads.ts'
import type { SpotPass, SpotRequest, SpotResult } from './spot-pass.ts'

export interface SpotThreads {
  readonly run: SpotPass
  /** Ends all threads. Their passes reject. */
  readonly close: () => Promise<void>
}

/** Data of a thread. */
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

/** In the same directory, compiled or not. */
function workerUrl(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './spot-worker.ts' : './spot-worker.js', import.meta.url)
}

function resultOf(thread: Worker): Promise<SpotResult> {
  return new Promise((resolve, reject) => {
    thread.once('message', (result: SpotResult) => resolve(result))
    thread.once('error', (cause: unknown) => reject(new AuditUnavailable('The pass failed.', { cause })))
    thread.once('exit', () => reject(new AuditUnavailable('The pass was aborted.')))
  })
}
