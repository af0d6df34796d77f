/**
 * Runs a nats-server with JetStream for the ledger, on the loopback address.
 *   N1. The password is random, in a file that only the owner can read, and never an argument of a process.
 *   N2. A server left behind by a killed launcher is ended before the next start, and never reused.
 * `url` contains user and password. nats.js ignores them there, so the caller must pass them.
 */
import { realpathSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { freePortNear, isPortFree, LOOPBACK } from './free-port.ts'
import { installNatsServer } from './nats-installation.ts'
import { findProgram } from './programs.ts'
import { isAlive, processesOf } from './process-table.ts'
import { pollUntil, spawnServer, stopByStages, type EmbeddedServer, type ServerProcess } from './server-process.ts'
import {
  newPassword,
  markRunning,
  readRecord,
  refuseSecondLauncher,
  runningRecord,
  thisLauncher,
  writeRecord,
  type ServerRecord,
} from './server-record.ts'
import { makePrivateDirectory, replacePrivateFile } from '../system/private-file.ts'

export interface NatsOptions {
  /** Used by this server only, and created if it is missing. */
  readonly storeDir: string
  /** Required port; by default the previous port, or any free one. */
  readonly port?: number
  /** Path of the program; by default it is searched for, and installed if it is missing. */
  readonly program?: string
  readonly log?: (line: string) => void
}

const USER = 'ledger'
/** A batch of submissions or replies is one message. */
const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024
const START_TIMEOUT_MS = 30_000
const LEFTOVER_TIMEOUT_MS = 15_000
const PORT_TRIES = 5
/** Ignored advice to hash the password: only the owner can read the file. */
const PASSWORD_ADVICE = 'Plaintext passwords detected'

/**
 * Returns the path of nats-server, and installs it if it is missing. The error of a failed installation says how to install
 * it by hand.
 */
export async function findNatsServer(log: (line: string) => void = () => undefined): Promise<string> {
  return findProgram('nats-server') ?? installNatsServer(log)
}

export async function startNats(options: NatsOptions): Promise<EmbeddedServer> {
  const log = options.log ?? (() => undefined)
  const program = options.program ?? (await findNatsServer(log))
  makePrivateDirectory(options.storeDir)
  const directory = realpathSync(options.storeDir)
  const found = readableRecord(directory, log)
  refuseSecondLauncher(directory, found)
  const record: ServerRecord = {
    port: found?.port ?? null,
    password: found?.password ?? newPassword(),
    place: directory,
    made: true,
    launcher: thisLauncher(),
  }
  writeRecord(directory, record)
  await endLeftovers(configPath(directory), log)
  let port = options.port ?? (await freePortNear(record.port))
  for (let left = PORT_TRIES; ; left -= 1) {
    if (options.port !== undefined && !(await isPortFree(options.port))) {
      throw new Error(`port ${options.port} for nats-server is taken on ${LOOPBACK}`)
    }
    const server = await launch(program, directory, { ...record, port }, port, log)
    if (await isReady(server, port)) return handleOf(server, directory, { ...record, port }, port)
    await stopByStages(server, [['SIGKILL', 10_000]])
    const lines = server.lastLines()
    const mayPass = lines.some((line) => line.includes('address already in use'))
    if (!mayPass || left <= 1) throw new Error(`nats-server did not start:\n${lines.join('\n')}`)
    if (options.port === undefined) port = await freePortNear(null)
  }
}

/** Replaces a damaged record: it gets a new port and password, and the server has no data that must survive. */
function readableRecord(directory: string, log: (line: string) => void): ServerRecord | undefined {
  try {
    return readRecord(directory)
  } catch (error) {
    log(`${error instanceof Error ? error.message : String(error)}: created a new one`)
    return undefined
  }
}

/** The URL of the server on this directory, if its launcher is alive. */
export function runningNatsUrl(storeDir: string): string | undefined {
  const record = runningRecord(storeDir)
  return record === undefined ? undefined : urlOf(record.password, record.port)
}

function urlOf(password: string, port: number): string {
  return `nats://${USER}:${password}@${LOOPBACK}:${port}`
}

function launch(
  program: string,
  directory: string,
  record: ServerRecord,
  port: number,
  log: (line: string) => void,
): Promise<ServerProcess> {
  writeRecord(directory, record)
  replacePrivateFile(configPath(directory), configuration(directory, record.password, port))
  return spawnServer({
    program,
    args: ['-c', configPath(directory)],
    cwd: directory,
    env: { PATH: '/usr/bin:/bin', HOME: directory },
    user: undefined,
    log: (line) => {
      if (!line.includes(PASSWORD_ADVICE)) log(line)
    },
  })
}

function configPath(directory: string): string {
  return join(directory, 'nats.conf')
}

/** JetStream stores leases and hints only. By default it would claim most of the memory and disk. */
function configuration(directory: string, password: string, port: number): string {
  return `listen: "${LOOPBACK}:${port}"
max_payload: ${MAX_PAYLOAD_BYTES}
authorization { user: "${USER}", password: ${JSON.stringify(password)} }
jetstream { store_dir: ${JSON.stringify(directory)}, max_memory_store: 64MB, max_file_store: 1GB }
`
}

async function isReady(server: ServerProcess, port: number): Promise<boolean> {
  const greeting = { received: false }
  const probe = (): boolean => {
    awaitGreeting(port, () => {
      greeting.received = true
    })
    return greeting.received
  }
  const isAnnounced = (): boolean => server.lastLines().some((line) => line.includes('Server is ready'))
  await pollUntil(() => !server.running() || (isAnnounced() && probe()), START_TIMEOUT_MS)
  return server.running() && greeting.received
}

/** A NATS server sends `INFO {…}` first. */
function awaitGreeting(port: number, onGreeting: () => void): void {
  const socket = connect({ port, host: LOOPBACK })
  socket.setTimeout(1_000, () => socket.destroy())
  socket.on('error', () => undefined)
  socket.once('data', (data) => {
    if (data.toString('latin1').startsWith('INFO ')) onGreeting()
    socket.destroy()
  })
}

function handleOf(server: ServerProcess, directory: string, record: ServerRecord, port: number): EmbeddedServer {
  markRunning(directory, server.exited)
  return {
    kill: () => server.signal('SIGKILL'),
    url: urlOf(record.password, port),
    port,
    pid: server.pid,
    exited: server.exited,
    stop: async () => {
      await stopByStages(server, [
        ['SIGTERM', 15_000],
        ['SIGKILL', 10_000],
      ])
      writeRecord(directory, { ...record, launcher: null })
    },
  }
}

async function endLeftovers(config: string, log: (line: string) => void): Promise<void> {
  const orphans = processesOf('nats-server', config)
  if (orphans.length === 0) return
  log(`ending the nats-server of an earlier start (process ${orphans[0]?.pid ?? 0})`)
  const gone = (): boolean => !orphans.some(isAlive)
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const orphan of orphans.filter(isAlive)) process.kill(orphan.pid, signal)
    if (await pollUntil(gone, LEFTOVER_TIMEOUT_MS)) return
  }
  throw new Error(`the nats-server process ${orphans[0]?.pid ?? 0} of an earlier start does not end`)
}
