/** The threads of a proof of liabilities: one per run, and one per reader of it. */
import { createThreads, programBeside, startThread, type Threads } from '../system/worker-task.ts'
import { failureOf, type ReaderOutcome, type ReaderTask, type StartReader } from './liability-readers.ts'
import type { LiabilityOutcome, LiabilityTask } from './liability-run.ts'

/** For the wait for other runs, the snapshot and the trees. */
const DEADLINE_MS = 300_000
/**
 * The heap holds the list of all tokens. Objects of a row are garbage with the next row: a large young generation avoids
 * copying them.
 */
const LIMITS = { maxOldGenerationSizeMb: 1_024, maxYoungGenerationSizeMb: 96 } as const

function program(name: string) {
  return { url: programBeside(import.meta.url, name), deadlineMs: DEADLINE_MS, limits: LIMITS }
}

export function createLiabilityThreads(): Threads<LiabilityTask, LiabilityOutcome> {
  return createThreads(program('liability-worker'))
}

export const startReaderThread: StartReader = (task) => {
  const { result, end } = startThread<ReaderTask, ReaderOutcome>(program('liability-reader-worker'), task)
  return { outcome: result.catch(failureOf), end: () => void end() }
}
