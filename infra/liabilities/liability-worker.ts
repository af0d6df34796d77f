/** Worker thread of one run. */
import { parentPort, workerData } from 'node:worker_threads'
import { createReaderThreads } from './liability-reader-thread.ts'
import { type LiabilityTask, runLiabilities } from './liability-run.ts'
import { threadStepsBack } from '../system/step-back.ts'

threadStepsBack()
const task = workerData as LiabilityTask
const outcome = await runLiabilities(task, createReaderThreads())
// Wipes this thread's copy of the key.
task.sealingKey.fill(0)
parentPort?.postMessage(outcome, [])
