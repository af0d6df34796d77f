/** The thread of one reader of a run. */
import { parentPort, workerData } from 'node:worker_threads'
import { memoryOf } from './liability-book.ts'
import { type ReaderTask, runReader } from './liability-readers.ts'
import { threadStepsBack } from '../system/step-back.ts'

threadStepsBack()
const outcome = await runReader(workerData as ReaderTask)
parentPort?.postMessage(outcome, outcome.kind === 'read' ? memoryOf(outcome.read.part) : [])
