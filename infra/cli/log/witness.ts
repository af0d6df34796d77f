/** `ledger witness`: signs the heads of logs as long as each continues the one before. */
import { createServer } from 'node:http'
import { resolve } from 'node:path'
import { parseVerifierKey, type NoteKey, verifierKeyText } from '../../../api/client/log/signed-note.ts'
import { createNoteSigner } from '../../log/log-signer.ts'
import { createWitnessApp } from '../../log/witness-app.ts'
import { openWitnessFile, type WitnessFile, WitnessFileUnusable } from '../../log/witness-file.ts'
import { Witness } from '../../log/witness.ts'
import { createSystemClock } from '../../system/clock-system.ts'
import { listenOn } from '../../system/listen-on.ts'
import { createJsonLinesLog } from '../../system/log-json-lines.ts'
import { CommandFailed, type CommandSetup, integerBetween, UsageError } from '../common/command.ts'

interface Options {
  readonly state: string
  readonly name?: string
  readonly log: readonly string[]
  readonly host: string
  readonly port: number
}

const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
const MAX_CONNECTIONS = 1_000

export const witnessCommand: CommandSetup = (command, io) => {
  command
    .description(
      `Runs a witness of logs (C2SP tlog-witness): it signs the head of a log only if that continues the last
head that it signed, so that a log cannot show two histories. It keeps one file, with its key and
the last head of each log, and needs no database. Keep the file: a witness that has lost it is no
witness of what was before. Run it on another machine than the ledger.

Prints its public key (a vkey), which goes into the file of LEDGER_WITNESSES. The key of a ledger's
log is at /log/key of its edges.`,
    )
    .requiredOption('--state <file>', 'file of the witness; a new one needs --name')
    .option('--name <name>', 'name of a new witness, such as witness.example.com/w1')
    .requiredOption('--log <vkey...>', 'public keys of the logs')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on', integerBetween(0, 65_535), 8_081)
    .action(async ({ state, name, log: keys, host, port }: Options) => {
      const logs = await Promise.all(keys.map(logKeyOf))
      const store = openState(resolve(io.cwd, state), name)
      const signer = await createNoteSigner(store.name, 'witness', store.seed)
      const log = createJsonLinesLog({ level: 'info', fields: { part: 'witness', pid: process.pid }, write: io.out })
      const witness = new Witness({ signer, logs, store, nowMs: createSystemClock().now })
      const server = createServer(
        { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
        createWitnessApp({ witness, logs, store, log }),
      )
      server.maxConnections = MAX_CONNECTIONS
      const stopped = io.stopSignal()
      await listenOn(server, host, port, '--port')
      io.err(`witness ${verifierKeyText(signer.key)}\n`)
      await new Promise<void>((done) => {
        stopped.addEventListener('abort', () => done(), { once: true })
      })
      server.closeAllConnections()
      await new Promise<void>((done) => {
        server.close(() => done())
      })
    })
}

async function logKeyOf(text: string): Promise<NoteKey> {
  const key = await parseVerifierKey(text)
  if (key?.kind !== 'log') throw new UsageError(`--log: ${text} is not the key of a log`)
  return key
}

function openState(path: string, name: string | undefined): WitnessFile {
  try {
    return openWitnessFile(path, name)
  } catch (error) {
    if (error instanceof WitnessFileUnusable) throw new CommandFailed(error.message, { cause: error })
    throw error
  }
}
