import { createOrMigrate } from '../ledger/ledger-creation.ts'
import { openMasterKeys } from '../ledger/ledger-secrets.ts'
import { EXIT_OK, readArgs, type Command } from './common/command.ts'
import { configurationOf, refuseMissingInProduction, withNewDatabase } from './common/configured.ts'

export const migrateCommand: Command = {
  summary: 'bring the database to the schema of this program',
  help: `Usage: ledger migrate

Applies the schema steps that are missing and creates the ledger if there is none, with LEDGER_SHARDS shards (256 by
default) and LEDGER_AMOUNT_INDEX (account by default), both fixed from then on, and its first signing keys. Where
PostgreSQL has the roles ledger_node, ledger_edge or ledger_auditor, they are granted what is theirs, and nothing else
stays granted to them. May be run any number of times, by several processes at once. ledger up does it by itself.
Refuses a database of version 0.7 or earlier.
`,
  run: async (args, io) => {
    readArgs(args, {})
    const configuration = configurationOf(io)
    refuseMissingInProduction({ ...configuration, nats: { ...configuration.nats, urls: [] } }, false)
    const masterKeys = await openMasterKeys(configuration)
    const ledger = await withNewDatabase(configuration, io, (url) =>
      createOrMigrate(url, masterKeys, configuration, (text) => io.err(`${text}\n`)),
    )
    io.out(`${JSON.stringify({ ledger_id: ledger.ledgerId, shards: ledger.shardCount })}\n`)
    return EXIT_OK
  },
}
