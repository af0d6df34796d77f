/** The thread that one run of the proof of liabilities has for itself. */
import { parentPort, workerData } from 'node:worker_threads'
import { createReaderThreads } from './liability-reader-thread.ts'
import { type LiabilityTask, runLiabilities } from './liability-run.ts'
import { threadStepsBack } from '../system/step-back.ts'
import { createTileThreads } from './liability-tile-thread.ts'

threadStepsBack()
const task = workerData as LiabilityTask
const outcome = await runLiabilities(task, createReaderThreads(), createTileThreads())
// A copy of this thread's own.
task.sealingKey.fill(0)
parentPort?.postMessage(outcome, [])
