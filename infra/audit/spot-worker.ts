/** Worker thread of one spot pass: it gets a SpotTask as `workerData` and posts its SpotResult. */
import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { openVault } from '../ledger/ledger-secrets.ts'
import { readLedgerAt } from '../postgres/migrations/migrate.ts'
import { runSpotPass } from './spot-pass.ts'
import type { SpotTask } from './spot-thread.ts'

// On Linux, priorities are per thread. Elsewhere this would slow the whole process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

const { request, readingKeys } = workerData as SpotTask
const ledger = await readLedgerAt(request.url)
if (ledger === undefined) throw new Error('the database contains no ledger of this schema version')
parentPort?.postMessage(await runSpotPass(request, openVault(readingKeys, ledger)), [])
