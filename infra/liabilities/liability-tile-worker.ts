/** Worker thread that makes tiles. */
import { parentPort, workerData } from 'node:worker_threads'
import { createTileMaker, type TileBatch, type TileSecrets } from './liability-tiles.ts'
import { threadStepsBack } from '../system/step-back.ts'

threadStepsBack()
const secrets = workerData as TileSecrets
const make = createTileMaker(secrets)

/** null ends the thread. */
parentPort?.on('message', (batch: TileBatch | null) => {
  if (batch === null) {
    // Wipes this thread's copy of the key.
    secrets.sealingKey.fill(0)
    parentPort?.close()
    return
  }
  const made = make(batch)
  parentPort?.postMessage(made, [made.folded.buffer, made.pages.buffer, made.ends.buffer])
})
