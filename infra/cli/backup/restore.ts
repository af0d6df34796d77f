import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { parseTimestamp } from '../../../actors/timestamp.ts'
import { BackupDirectory, BackupUnusable } from '../../backup/backup-directory.ts'
import type { Manifest } from '../../backup/manifest.ts'
import { restore } from '../../backup/restore.ts'
import { createOpener, type Opener, PieceBroken } from '../../backup/sealed-piece.ts'
import { existingMasterKeys, refuseOtherMasterKeys } from '../../ledger/ledger-secrets.ts'
import { CommandFailed, type CommandIo, type CommandSetup, UsageError } from '../common/command.ts'
import { configurationOf } from '../common/configured.ts'
import { addExamples } from '../common/examples.ts'
import { type KeyFile, readKeyFile } from '../profile/key-files.ts'
import { verdictIo } from '../verify/verdicts.ts'
import { dataDirectory, embeddedTarget } from './restore-target.ts'
import { transferProgress } from './transfer-progress.ts'
import { verifyRestored } from './verify-restored.ts'

interface RestoreOptions {
  readonly identity: string
  readonly to?: string
  readonly embedded?: boolean
  readonly until?: number
}

export const restoreCommand: CommandSetup = (command, io) => {
  command
    .description(
      `Restores a backup into a new data directory of PostgreSQL: decrypts and verifies every part, lets a
private PostgreSQL recover it, and verifies the whole ledger: every chain, receipt, balance and supply,
and the log. Only then has the directory its name. The ledger that was backed up is not touched.

Needs the private key of the backup, the ledger's master key (LEDGER_MASTER_KEY_FILE, or master.key in
LEDGER_DATA_DIR), and the programs of PostgreSQL, which the package has.

Prints the last orders: later ones are lost. Then start PostgreSQL on the directory and run
ledger accept-server --yes (infra/deploy/README.md).

With --embedded the directory is that of ledger up, in a new LEDGER_DATA_DIR.`,
    )
    .argument('<backup>', 'directory of ledger backup')
    .requiredOption('--identity <file>', 'private key of the backup, as ledger keygen writes it')
    .option('--to <directory>', 'new data directory')
    .option('--embedded', 'restore into LEDGER_DATA_DIR, for ledger up and npm start')
    .option('--until <time>', 'restore the state of this time (ISO 8601)', timeOf)
    .action((directory: string, options: RestoreOptions) => restoreLedger(directory, options, io))
  addExamples(command, [
    'LEDGER_MASTER_KEY_FILE=master.key ledger restore /var/backups/ledger --identity backup.pem --to /var/lib/postgresql/restored',
    'ledger restore /var/backups/ledger --identity backup.pem --to restored --until 2030-01-31T12:00:00Z',
    'LEDGER_DATA_DIR=.restored LEDGER_MASTER_KEY_FILE=master.key ledger restore backups --identity backup.pem --embedded',
  ])
}

function timeOf(text: string): number {
  const time = parseTimestamp(text)
  if (time === undefined) throw new InvalidArgumentError('It must be a time such as 2030-01-31T12:00:00Z.')
  return time
}

async function restoreLedger(directory: string, options: RestoreOptions, io: CommandIo): Promise<void> {
  if ((options.to === undefined) !== (options.embedded === true))
    throw new UsageError('name one of --to and --embedded')
  const configuration = configurationOf(io)
  const ring = await existingMasterKeys(configuration)
  const identity = readKeyFile(resolve(io.cwd, options.identity), options.identity)
  const source = new BackupDirectory(resolve(io.cwd, directory))
  const opener = createOpener(identity.key)
  const shown = verdictIo(io, false)
  const progress = transferProgress('restore', io)
  const signal = io.stopSignal()
  const beganMs = performance.now()
  const since = (): string => `${((performance.now() - beganMs) / 1_000).toFixed(1)} s`
  try {
    refuseOtherIdentity(source, identity)
    const target = options.to === undefined ? embeddedTarget(configuration) : dataDirectory(resolve(io.cwd, options.to))
    const { base, knownUntilMs } = await restore({
      source,
      opener,
      target: target.path,
      untilMs: options.until,
      accept: (manifest) => {
        refuseOtherMasterKeys(ring, Buffer.from(manifest.sealed_shard_secret, 'base64'))
        target.accept(manifest)
      },
      verify: async (server, manifest) => {
        io.err(`recovered after ${since()}; verifying\n`)
        await withCheckpoint(source, opener, manifest, (checkpoint) =>
          verifyRestored({ server, manifest, ring, checkpoint }, shown),
        )
        await target.finish(server.url)
      },
      signal,
      say: (text) => {
        progress.end()
        io.err(`${text}\n`)
      },
      progress: progress.note,
      log: (line) => {
        if (/redo in progress/.test(line)) io.err(`${line}\n`)
      },
    })
    io.err(
      `restored to ${options.to ?? configuration.dataDir} in ${since()}, from the base backup of ${new Date(base.atMs).toISOString()}: ` +
        `everything that was acknowledged before ${new Date(options.until ?? knownUntilMs).toISOString()}\n` +
        (options.embedded === true
          ? 'next: run ledger accept-server --yes, and then ledger up, with the same LEDGER_DATA_DIR\n'
          : 'next: start PostgreSQL on it, and run ledger accept-server --yes\n'),
    )
  } catch (cause) {
    if (signal.aborted) throw new CommandFailed('interrupted: nothing was restored', { cause })
    if (cause instanceof BackupUnusable || cause instanceof PieceBroken) {
      throw new CommandFailed(cause.message, { cause })
    }
    throw cause
  } finally {
    progress.end()
  }
}

function refuseOtherIdentity(source: BackupDirectory, { keyId }: KeyFile): void {
  const { recipientKeyId } = source.owner()
  if (recipientKeyId !== keyId) {
    throw new CommandFailed(`the backup is encrypted to key ${recipientKeyId}, and the identity is key ${keyId}`)
  }
}

/** Calls `work` with the file of the backup's checkpoint, if there is one. */
async function withCheckpoint(
  source: BackupDirectory,
  opener: Opener,
  { checkpoint }: Manifest,
  work: (path: string | undefined) => Promise<void>,
): Promise<void> {
  if (checkpoint === null) return work(undefined)
  const directory = mkdtempSync(join(tmpdir(), 'ledger-restore-'))
  const path = join(directory, 'checkpoint')
  try {
    for (const name of checkpoint) writeFileSync(path, await source.readChunk(name, opener), { flag: 'a' })
    await work(path)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
