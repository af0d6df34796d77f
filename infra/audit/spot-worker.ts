/** The thread of one spot pass. */
import { openVault } from '../ledger/ledger-secrets.ts'
import { readLedgerAt } from '../postgres/migrations/migrate.ts'
import { runTask } from '../system/worker-task.ts'
import { runSpotPass } from './spot-pass.ts'
import type { SpotTask } from './spot-threads.ts'

await runTask(async ({ request, readingKeys }: SpotTask) => {
  const ledger = await readLedgerAt(request.url)
  if (ledger === undefined) throw new Error('the database contains no ledger of this schema version')
  return runSpotPass(request, openVault(readingKeys, ledger))
})
