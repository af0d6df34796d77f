/** The thread of one reader of a run. */
import { runTask } from '../system/worker-task.ts'
import { memoryOf } from './liability-book.ts'
import { runReader } from './liability-readers.ts'

await runTask(runReader, (outcome) => (outcome.kind === 'read' ? memoryOf(outcome.read.part) : []))
