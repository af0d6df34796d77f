/**
 * Runs each spot pass on its own thread, so that a wait for one delays no other. A thread opens the ledger itself: it
 * receives the keys for reading as key objects.
 */
import type { KeyRing } from '../keys/wrapping-keys.ts'
import { createThreads, programBeside } from '../system/worker-task.ts'
import { AuditUnavailable } from './audit-reads.ts'
import type { SpotPass, SpotRequest, SpotResult } from './spot-pass.ts'

/** Data of a thread. */
export interface SpotTask {
  readonly request: SpotRequest
  readonly readingKeys: KeyRing
}

const PROGRAM = {
  url: programBeside(import.meta.url, 'spot-worker'),
  deadlineMs: 300_000,
  limits: { maxOldGenerationSizeMb: 512 },
} as const

/** `close` ends all threads: their passes reject. */
export function createSpotThreads(readingKeys: KeyRing): {
  readonly run: SpotPass
  readonly close: () => Promise<void>
} {
  const threads = createThreads<SpotTask, SpotResult>(PROGRAM)
  return {
    run: (request) =>
      threads.run({ request, readingKeys }).catch((cause) => {
        throw new AuditUnavailable('The pass failed.', { cause })
      }),
    close: threads.close,
  }
}
