/** The thread of a pass that is made at once: it gets its request as it starts, says what it found, and ends. */
import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { runSpotPass, type SpotRequest } from './spot-pass.ts'

// On Linux a priority is a thread's own; elsewhere it would be that of whoever answers requests.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

parentPort?.postMessage(await runSpotPass(workerData as SpotRequest), [])
