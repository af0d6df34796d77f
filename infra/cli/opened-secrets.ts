import type { Configuration } from '../config/configuration.ts'
import { existingMasterKeys, type LedgerSecrets, openLedgerSecrets } from '../ledger/ledger-secrets.ts'
import { readLedgerAt } from '../postgres/migrations/migrate.ts'
import { CommandFailed } from './common/command.ts'

/** The secrets of the ledger in this database. Throws when there is none, or when the master keys do not open them. */
export async function openedSecrets(configuration: Configuration, url: string): Promise<LedgerSecrets> {
  const ledger = await readLedgerAt(url)
  if (ledger === undefined) throw new CommandFailed('the database has no ledger of this version: run ledger migrate')
  return openLedgerSecrets(await existingMasterKeys(configuration), ledger)
}
