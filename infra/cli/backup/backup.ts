import { type PublicKey, readPublicKey } from '../../keys/public-key.ts'
import { resolve } from 'node:path'
import { BackupUnusable, BackupWriter } from '../../backup/backup-directory.ts'
import {
  type BaseOptions,
  type BaseProgress,
  readServerFacts,
  takeBase,
  type TakenBase,
} from '../../backup/base-backup.ts'
import { follow } from '../../backup/follow.ts'
import { createSealer } from '../../backup/sealed-piece.ts'
import { WalGone } from '../../backup/wal-copy.ts'
import { connect, type Connection } from '../../postgres/connection/connection.ts'
import { CommandFailed, type CommandIo, type CommandSetup, integerBetween, UsageError } from '../common/command.ts'
import { configurationOf, withDatabase } from '../common/configured.ts'
import { addExamples } from '../common/examples.ts'
import { jsonObjectOf, readGivenFile, readGivenText } from '../common/given-file.ts'
import { sizeText, transferProgress } from './transfer-progress.ts'

interface BackupOptions {
  readonly recipientKey: string
  readonly checkpoint?: string
  readonly follow?: boolean
  readonly baseEvery?: number
}

const BASE_EVERY_HOURS = 24
const MOST_HOURS = 10_000

export const backupCommand: CommandSetup = (command, io) => {
  command
    .description(
      `Backs up the PostgreSQL server of the ledger while it runs, into a directory, encrypted to a public
key. Only the holder of the private key can read it. The ledger's master key is not in it, and is not
needed here: keep a copy of that key elsewhere.

Repeat the command with the same directory: only changed parts are copied. After an interruption run
it again, and it continues. Backups of other PostgreSQL servers, or to another key, need another
directory.

With --follow it goes on: every two seconds it copies the new part of the write-ahead log, and every
24 hours it takes a base backup. The loss of the server then loses some seconds, and ledger restore
--until restores any time between.

Needs the database, with a role that may call the functions in infra/deploy/postgres/roles.sql
(ledger_backup), or a superuser.`,
    )
    .argument('<directory>', 'directory of the backups; it is created if it is missing')
    .requiredOption('--recipient-key <file>', 'public key of the backup: a P-256 key as a JWK or PEM')
    .option('--checkpoint <file>', 'a file of ledger checkpoint, which the restored ledger is compared with')
    .option('--follow', 'go on copying the write-ahead log until SIGTERM, for a restore to any time')
    .option(
      '--base-every <hours>',
      `with --follow: hours between two base backups (${BASE_EVERY_HOURS})`,
      integerBetween(1, MOST_HOURS),
    )
    .action((directory: string, options: BackupOptions) => backUp(directory, options, io))
  addExamples(command, [
    'ledger keygen --out backup.pem > backup.pub',
    'ledger backup /var/backups/ledger --recipient-key backup.pub',
    'ledger backup /var/backups/ledger --recipient-key backup.pub --follow',
  ])
}

async function backUp(directory: string, options: BackupOptions, io: CommandIo): Promise<void> {
  if (options.baseEvery !== undefined && options.follow !== true) throw new UsageError('--base-every needs --follow')
  const recipient = await recipientOf(options.recipientKey, io)
  const checkpoint = options.checkpoint === undefined ? undefined : readGivenFile(options.checkpoint, io)
  const signal = io.stopSignal()
  const progress = transferProgress('backup', io)
  const say = (text: string): void => {
    progress.end()
    io.err(`${text}\n`)
  }
  await withDatabase(configurationOf(io), io, async (url) => {
    const open = (): Promise<Connection> => connect({ url, applicationName: 'ledger backup' })
    try {
      const systemIdentifier = await identifierOf(open)
      const owner = { recipientKeyId: recipient.keyId, systemIdentifier }
      const writer = BackupWriter.open(resolve(io.cwd, directory), owner, createSealer(recipient))
      try {
        const common = {
          writer,
          checkpoint,
          signal,
          isFast: true,
          progress: ({ doneBytes, totalBytes }: BaseProgress) => progress.note(doneBytes, totalBytes),
        }
        if (options.follow !== true) return await once(open, common, say)
        say(`following ${systemIdentifier}: the write-ahead log is copied every two seconds, until SIGTERM`)
        const baseEveryMs = (options.baseEvery ?? BASE_EVERY_HOURS) * 3_600_000
        const onBase = (taken: TakenBase): void => say(takenText(taken))
        await follow({ ...common, connect: open, baseEveryMs, systemIdentifier, say, onBase })
      } finally {
        writer.close()
      }
    } catch (cause) {
      if (signal.aborted) throw new CommandFailed('interrupted: run it again to continue', { cause })
      throw failureOf(cause)
    } finally {
      progress.end()
    }
  })
}

async function identifierOf(open: () => Promise<Connection>): Promise<string> {
  const connection = await open()
  try {
    return (await readServerFacts(connection.sql)).systemIdentifier
  } finally {
    await connection.end()
  }
}

async function once(
  open: () => Promise<Connection>,
  options: Omit<BaseOptions, 'sql'>,
  say: (text: string) => void,
): Promise<void> {
  const connection = await open()
  // A statement may take a minute.
  options.signal.addEventListener('abort', connection.destroy, { once: true })
  try {
    say(takenText(await takeBase({ ...options, sql: connection.sql })))
  } finally {
    options.signal.removeEventListener('abort', connection.destroy)
    await connection.end()
  }
}

function takenText({ base, ledgerId, durationMs, writtenBytes, progress }: TakenBase): string {
  const { totalBytes, readBytes } = progress
  return (
    `backed up ledger ${ledgerId} as of ${new Date(base.atMs).toISOString()}: ${sizeText(totalBytes)} of data, ` +
    `${sizeText(readBytes)} copied, ${sizeText(writtenBytes)} written, ${(durationMs / 1_000).toFixed(1)} s`
  )
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
