/** The thread of one run. */
import { runTask } from '../system/worker-task.ts'
import { type LiabilityTask, runLiabilities } from './liability-run.ts'
import { startReaderThread } from './liability-threads.ts'

await runTask(async (task: LiabilityTask) => {
  const outcome = await runLiabilities(task, startReaderThread)
  // Wipes this thread's copy of the key.
  task.sealingKey.fill(0)
  return outcome
})
