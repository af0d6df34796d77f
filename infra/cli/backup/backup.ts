import { type PublicKey, readPublicKey } from '../../keys/public-key.ts'
import { resolve } from 'node:path'
import { BackupUnusable, BackupWriter } from '../../backup/backup-directory.ts'
import { readServerFacts, takeBase } from '../../backup/base-backup.ts'
import { createSealer } from '../../backup/sealed-piece.ts'
import { WalGone } from '../../backup/wal-copy.ts'
import { connect } from '../../postgres/connection/connection.ts'
import { CommandFailed, type CommandIo, type CommandSetup } from '../common/command.ts'
import { databaseConfigurationOf, withDatabase } from '../common/configured.ts'
import { addExamples } from '../common/examples.ts'
import { jsonObjectOf, readGivenFile, readGivenText } from '../common/given-file.ts'
import { sizeText, transferProgress } from './transfer-progress.ts'

interface BackupOptions {
  readonly recipientKey: string
  readonly checkpoint?: string
}

export const backupCommand: CommandSetup = (command, io) => {
  command
    .description(
      `Backs up the PostgreSQL server of the ledger while it runs, into a directory, encrypted to a public
key. Only the holder of the private key can read it. The ledger's master key is not in it, and is not
needed here: keep a copy of that key elsewhere.

Repeat the command with the same directory: only changed parts are copied. After an interruption run
it again, and it continues. Backups of other PostgreSQL servers, or to another key, need another
directory.

Needs the database, with a role that may call the functions in infra/deploy/postgres/roles.sql
(ledger_backup), or a superuser.`,
    )
    .argument('<directory>', 'directory of the backups; it is created if it is missing')
    .requiredOption('--recipient-key <file>', 'public key of the backup: a P-256 key as a JWK or PEM')
    .option('--checkpoint <file>', 'a file of ledger checkpoint, which the restored ledger is compared with')
    .action((directory: string, options: BackupOptions) => backUp(directory, options, io))
  addExamples(command, [
    'ledger keygen --out backup.pem > backup.pub',
    'ledger backup /var/backups/ledger --recipient-key backup.pub',
  ])
}

async function backUp(directory: string, options: BackupOptions, io: CommandIo): Promise<void> {
  const recipient = await recipientOf(options.recipientKey, io)
  const checkpoint = options.checkpoint === undefined ? undefined : readGivenFile(options.checkpoint, io)
  const signal = io.stopSignal()
  await withDatabase(databaseConfigurationOf(io), io, async (url) => {
    const connection = await connect({ url, applicationName: 'ledger backup' })
    const progress = transferProgress('backup', io)
    try {
      const { systemIdentifier } = await readServerFacts(connection.sql)
      const path = resolve(io.cwd, directory)
      const owner = { recipientKeyId: recipient.keyId, systemIdentifier }
      const writer = BackupWriter.open(path, owner, createSealer(recipient))
      try {
        const beganMs = performance.now()
        const taken = await takeBase({
          sql: connection.sql,
          writer,
          checkpoint,
          signal,
          progress: ({ doneBytes, totalBytes }) => progress.note(doneBytes, totalBytes),
        })
        progress.end()
        const { totalBytes, readBytes } = taken.progress
        io.err(
          `backed up ledger ${taken.ledgerId} as of ${new Date(taken.base.atMs).toISOString()}: ${sizeText(totalBytes)} of data, ` +
            `${sizeText(readBytes)} copied, ${sizeText(writer.writtenBytes)} written, ${seconds(beganMs)} s\n`,
        )
      } finally {
        writer.close()
      }
    } catch (cause) {
      progress.end()
      throw failureOf(cause)
    } finally {
      await connection.end()
    }
  })
}

function seconds(beganMs: number): string {
  return ((performance.now() - beganMs) / 1_000).toFixed(1)
}

function failureOf(cause: unknown): unknown {
  if (cause instanceof BackupUnusable || cause instanceof WalGone) return new CommandFailed(cause.message, { cause })
  return cause
}

async function recipientOf(name: string, io: CommandIo): Promise<PublicKey> {
  const text = (await readGivenText(name, io)).trim()
  const key = readPublicKey(text.startsWith('{') ? jsonObjectOf(text) : text)
  if (key !== undefined) return key
  throw new CommandFailed(`${name} must be a public P-256 key as a JWK or PEM, without a private part`)
}
