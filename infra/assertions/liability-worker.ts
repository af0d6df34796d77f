/** The thread that one run of the proof of liabilities has for itself. It steps back for the one that serves requests. */
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { type LiabilityTask, runLiabilities } from './liability-run.ts'

/** A third of what a thread gets that has not stepped back. */
const NICENESS = 5

try {
  // On Linux this is the thread's alone.
  if (process.platform === 'linux') setPriority(NICENESS)
} catch {
  // It runs as it is.
}
const task = workerData as LiabilityTask
const outcome = await runLiabilities(task)
// A copy of this thread's own.
task.sealingKey.fill(0)
parentPort?.postMessage(outcome, [])
