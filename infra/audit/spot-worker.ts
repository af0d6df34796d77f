/** The thread of a pass that is made at once: it gets its task as it starts, says what it found, and ends. */
import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { openVault } from '../ledger/ledger-secrets.ts'
import { readLedgerAt } from '../postgres/migrations/migrate.ts'
import { runSpotPass } from './spot-pass.ts'
import type { SpotTask } from './spot-thread.ts'

// On Linux a priority is a thread's own; elsewhere it would be that of whoever answers requests.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

const { request, readingKeys } = workerData as SpotTask
const ledger = await readLedgerAt(request.url)
if (ledger === undefined) throw new Error('the database has no ledger of this schema in it')
parentPort?.postMessage(await runSpotPass(request, openVault(readingKeys, ledger)), [])
