import { indexSecretName, openLedgerSecret, sealLedgerSecret } from '../keys/ledger-seals.ts'
import { existingMasterKeys } from '../main/ledger-secrets.ts'
import { connect } from '../postgres/connection.ts'
import {
  ENCRYPTION_SETTINGS,
  encryptLedger,
  type EncryptionOptions,
  EncryptionUnderWay,
} from '../postgres/encrypt-ledger.ts'
import { readLedger } from '../postgres/migrate.ts'
import { PLAN_SETTINGS } from '../postgres/plan-settings.ts'
import { createKeyWrapping } from '../vault/key-wrapping.ts'
import { CommandFailed, EXIT_OK, readArgs, type Command, type CommandIo } from './command.ts'
import { configurationOf, withDatabase } from './configured.ts'

/** Between two lines that say how far it is. */
const SAID_EVERY_MS = 2_000

export const encryptCommand: Command = {
  summary: 'encrypt a ledger that was made without encryption, while it runs',
  help: `Usage: ledger encrypt

Encrypts all rows of the ledger, one shard after the other: for the seconds that it takes, requests to that shard are told
to come again. May be ended at any moment and run again: it goes on after the last shard that was finished. Says on
standard error how far it is. Needs the master key, and the database user who owns the tables, as for ledger migrate.
Afterwards restart nodes and edges together: from then on what they send to each other is encrypted, too.
`,
  run: async (args, io) => {
    readArgs(args, {})
    const configuration = configurationOf(io)
    return withDatabase(configuration, io, async (url) => {
      const masterKeys = await existingMasterKeys(configuration)
      const settings = { ...PLAN_SETTINGS, ...ENCRYPTION_SETTINGS }
      const connection = await connect({ url, applicationName: 'ledger encrypt', settings })
      try {
        const ledger = await readLedger(connection.sql)
        if (ledger === undefined) {
          throw new CommandFailed('the database has no ledger of this version: run ledger migrate')
        }
        const rows = await encryptLedger(connection.sql, {
          shardCount: ledger.shardCount,
          wrapping: createKeyWrapping(masterKeys),
          indexSecret: openLedgerSecret(masterKeys, indexSecretName(ledger.encryption.stage), ledger.sealedIndexSecret)
            .secret,
          sealIndexSecret: (secret) => sealLedgerSecret(masterKeys, indexSecretName('on'), secret),
          onProgress: sayingSometimes(io),
        })
        if (rows === undefined) io.err('the ledger is encrypted already\n')
        io.out(`${JSON.stringify({ encryption: 'on', encrypted_rows: rows ?? 0 })}\n`)
        return EXIT_OK
      } catch (cause) {
        throw cause instanceof EncryptionUnderWay ? new CommandFailed(cause.message, { cause }) : cause
      } finally {
        await connection.end()
      }
    })
  },
}

function sayingSometimes(io: CommandIo): NonNullable<EncryptionOptions['onProgress']> {
  let saidMs = Number.NEGATIVE_INFINITY
  return ({ shards, of, rows }) => {
    if (performance.now() - saidMs < SAID_EVERY_MS && shards < of) return
    saidMs = performance.now()
    io.err(`${shards} of ${of} shards are encrypted, ${rows} rows\n`)
  }
}
