/**
 * A nats-server with JetStream of the ledger's own, on the loopback address.
 *   N1. User and password are random, in a file that only the owner can read, never an argument of a process.
 *   N2. What a killed launcher left behind on the same store is ended before the next start, never joined.
 * `url` carries user and password; nats.js does not read them from there, its caller must.
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
  noteRunning,
  readRecord,
  refuseSecondLauncher,
  runningRecord,
  thisLauncher,
  writeRecord,
  type ServerRecord,
} from './server-record.ts'
import { makePrivateDirectory, replacePrivateFile } from '../system/private-file.ts'

export interface NatsOptions {
  /** For this server alone; made if it is not there. */
  readonly storeDir: string
  /** This one or none; without it, the one it had before, or any that is free. */
  readonly port?: number
  /** Where the program is; without it, it is looked for, and installed if there is none. */
  readonly program?: string
  readonly log?: (line: string) => void
}

const USER = 'ledger'
/** Batches of submissions and verdicts travel whole. */
const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024
const START_TIMEOUT_MS = 30_000
const LEFTOVER_TIMEOUT_MS = 15_000
const PORT_TRIES = 5
/** Its advice to hash the password in its configuration: the file is readable by the owner only. */
const PASSWORD_ADVICE = 'Plaintext passwords detected'

/**
 * The path of nats-server: from the PATH, or installed by the system's package manager.
 * Throws one sentence on how to get it when it cannot be had.
 */
export async function findNatsServer(log: (line: string) => void = () => undefined): Promise<string> {
  return findProgram('nats-server') ?? installNatsServer(log)
}

/** Throws an error whose message an operator can act on. */
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
      throw new Error(`port ${options.port}, meant for nats-server, is taken on ${LOOPBACK}`)
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

/** Where the server on this directory listens, if a launcher that lives runs one. */
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

/** JetStream holds leases and hints only, so it is kept small; by default it would claim most of memory and disk. */
function configuration(directory: string, password: string, port: number): string {
  return `listen: "${LOOPBACK}:${port}"
max_payload: ${MAX_PAYLOAD_BYTES}
authorization { user: "${USER}", password: ${JSON.stringify(password)} }
jetstream { store_dir: ${JSON.stringify(directory)}, max_memory_store: 64MB, max_file_store: 1GB }
`
}

async function isReady(server: ServerProcess, port: number): Promise<boolean> {
  const answers = { now: false }
  const probe = (): boolean => {
    greets(port, () => {
      answers.now = true
    })
    return answers.now
  }
  const said = (): boolean => server.lastLines().some((line) => line.includes('Server is ready'))
  await pollUntil(() => !server.running() || (said() && probe()), START_TIMEOUT_MS)
  return server.running() && answers.now
}

/** A NATS server speaks first: `INFO {…}`. */
function greets(port: number, onGreeting: () => void): void {
  const socket = connect({ port, host: LOOPBACK })
  socket.setTimeout(1_000, () => socket.destroy())
  socket.on('error', () => undefined)
  socket.once('data', (data) => {
    if (data.toString('latin1').startsWith('INFO ')) onGreeting()
    socket.destroy()
  })
}

function handleOf(server: ServerProcess, directory: string, record: ServerRecord, port: number): EmbeddedServer {
  noteRunning(directory, server.exited)
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
  log(`ending the nats-server that an earlier start left behind (process ${orphans[0]?.pid ?? 0})`)
  const gone = (): boolean => !orphans.some(isAlive)
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const orphan of orphans.filter(isAlive)) process.kill(orphan.pid, signal)
    if (await pollUntil(gone, LEFTOVER_TIMEOUT_MS)) return
  }
  throw new Error(`the nats-server process ${orphans[0]?.pid ?? 0}, left from an earlier start, does not end`)
}
