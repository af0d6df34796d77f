import { createOrMigrate } from '../ledger/ledger-creation.ts'
import { openMasterKeys } from '../ledger/ledger-secrets.ts'
import type { CommandSetup } from './common/command.ts'
import { databaseConfigurationOf, withNewDatabase } from './common/configured.ts'

export const migrateCommand: CommandSetup = (command, io) => {
  command
    .description(
      `Applies the missing schema migrations. If there is no ledger, creates it with its first signing
keys, LEDGER_SHARDS shards (256 by default) and LEDGER_AMOUNT_INDEX (account by default). Both are
fixed from then on. If PostgreSQL has the roles ledger_node, ledger_edge or ledger_auditor, they get
exactly the rights that they need.

Safe to run again, and by several processes at once. ledger up migrates by itself. Refuses a
database of version 0.7 or earlier.`,
    )
    .action(async () => {
      const configuration = databaseConfigurationOf(io)
      const masterKeys = await openMasterKeys(configuration)
      const ledger = await withNewDatabase(configuration, io, (url) =>
        createOrMigrate(url, masterKeys, configuration, (text) => io.err(`${text}\n`)),
      )
      io.out(`${JSON.stringify({ ledger_id: ledger.ledgerId, shards: ledger.shardCount })}\n`)
    })
}
