/** `ledger witness`: signs the heads of logs as long as each continues the one before. */
import { createServer, type Server } from 'node:http'
import { resolve } from 'node:path'
import { noteKey, type NoteKey, parseVerifierKey, verifierKeyText } from '../../../api/client/log/signed-note.ts'
import { createNoteSigner } from '../../log/log-signer.ts'
import { createWitnessApp } from '../../log/witness-app.ts'
import { openWitnessFile, type WitnessFile, WitnessFileUnusable } from '../../log/witness-file.ts'
import { Witness } from '../../log/witness.ts'
import { createSystemClock } from '../../system/clock-system.ts'
import { listenOn } from '../../system/listen-on.ts'
import { createJsonLinesLog } from '../../system/log-json-lines.ts'
import { CommandFailed, type CommandIo, type CommandSetup, integerBetween, UsageError } from '../common/command.ts'
import { shownText } from '../common/shown-text.ts'

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
const KEY_BYTES = 32

export const witnessCommand: CommandSetup = (command, io) => {
  command
    .description(
      `Runs a witness of logs (C2SP tlog-witness): it signs the head of a log only if that continues the last
head that it signed, so that a log cannot show two histories. It keeps one file, with its key and
the last head of each log, and needs no database. Run it on another machine than the ledger. Never put
back an older copy of the file: the witness would sign a second history. If the file is lost, make a new
witness.

Prints its public key (a vkey), which goes into the file of LEDGER_WITNESSES. The key of a ledger's
log is at /log/key of its edges.`,
    )
    .requiredOption('--state <file>', 'file of the witness; a new one needs --name')
    .option('--name <name>', 'name of a new witness, such as witness.example.com/w1')
    .requiredOption('--log <vkey...>', 'public keys of the logs, separated by spaces')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on', integerBetween(0, 65_535), 8_081)
    .action(async (options: Options) => {
      const logs = await Promise.all(options.log.map(logKeyOf))
      if (options.name !== undefined) await requireName(options.name)
      const file = openState(resolve(io.cwd, options.state), options.name)
      try {
        await serve(file, logs, options, io)
      } finally {
        file.close()
      }
    })
}

/** Until the process is told to stop. */
async function serve(
  file: WitnessFile,
  logs: readonly NoteKey[],
  { host, port }: Options,
  io: CommandIo,
): Promise<void> {
  const signer = await createNoteSigner(file.name, 'witness', file.seed)
  const log = createJsonLinesLog({ level: 'info', fields: { part: 'witness', pid: process.pid }, write: io.out })
  const nowMs = createSystemClock().now
  const witness = new Witness({ signer, logs, store: file, nowMs })
  const server = createServer(
    { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
    createWitnessApp({ witness, logs, store: file, log, nowMs }),
  )
  server.maxConnections = MAX_CONNECTIONS
  const stopped = io.stopSignal()
  await listenOn(server, host, port, '--port')
  for (const { name } of logs) io.err(`${shownText(await startText(name, file))}\n`)
  io.err(`listening on ${addressOf(server)}\nwitness ${verifierKeyText(signer.key)}\n`)
  await new Promise<void>((done) => {
    stopped.addEventListener('abort', () => done(), { once: true })
  })
  const closed = new Promise<void>((done) => {
    server.close(() => done())
  })
  server.closeAllConnections()
  await closed
}

async function startText(origin: string, file: WitnessFile): Promise<string> {
  const head = await file.head(origin)
  return head === undefined
    ? `log ${origin}: no head was signed yet`
    : `log ${origin}: signed up to ${head.size} entries`
}

function addressOf(server: Server): string {
  const address = server.address()
  if (address === null || typeof address === 'string') return 'nothing'
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
}

async function requireName(name: string): Promise<void> {
  try {
    await noteKey(name, 'witness', new Uint8Array(KEY_BYTES))
  } catch (cause) {
    throw new UsageError('--name: a name has neither spaces nor plus signs', { cause })
  }
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
