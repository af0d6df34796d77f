/**
 * A PostgreSQL server of the ledger's own, on the loopback address.
 *   P1. Nothing is traded for speed: fsync and synchronous_commit are on, checksums too.
 *   P2. Its password is random, kept readable by the owner only, and never an argument or environment of a process.
 *   P3. What a killed launcher or server left behind on the same data is ended before the next start, never joined.
 *   P4. Data that was made once and is gone is never replaced by an empty database.
 *   P5. It runs as an unprivileged user when the launcher is root, on data that only that user may enter.
 */
import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { freePortNear, isPortFree, LOOPBACK } from './free-port.ts'
import { runToEnd } from './run-to-end.ts'
import { postgresBinaries, type PostgresBinaries } from './postgres-binaries.ts'
import { isAlive, processesOf, strayProcessesOf, type ProcessIdentity } from './process-table.ts'
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
import { SYSTEM_PLACE } from './tools-directory.ts'
import { canEnter, isRoot, unprivilegedUser, type User } from './unprivileged-user.ts'

export interface PostgresOptions {
  /** For this server alone; made if it is not there. */
  readonly dataDir: string
  /** This one or none; without it, the one it had before, or any that is free. */
  readonly port?: number
  /** A server that was running is started again: its data must be there. */
  readonly again?: boolean
  /** What it keeps of its files in memory, less where the system refuses it; left out, a quarter of what there is for this process. */
  readonly sharedBuffersMb?: number
  readonly log?: (line: string) => void
}

const USER = 'ledger'
const DATABASE = 'ledger'
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: LOOPBACK,
  unix_socket_directories: '',
  max_connections: '200',
  max_wal_size: '2GB',
  // Pages of keyed references and ciphertext hardly compress; trying costs 40 to 75 % on top of all else that a commit takes.
  wal_compression: 'off',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Neither statements nor the values of a row that was refused belong into a log.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_parameter_max_length_on_error: '0',
}

const LEAST_SHARED_BUFFERS_MB = 128
const MOST_SHARED_BUFFERS_MB = 8_192
/** Where memory is given out strictly, or to this process by a limit that is not seen here. */
const MEMORY_REFUSED = 'could not map anonymous shared memory'

/** The usual share of a machine's memory. A server takes a fortieth of it at its start, and the rest as it reads. */
function quarterOfMemoryMb(): number {
  // 0, undefined or more than there is where nothing limits this process.
  const limit = process.constrainedMemory() || Infinity
  const quarter = Math.floor(Math.min(totalmem(), limit) / 4 / 1_048_576)
  return Math.min(MOST_SHARED_BUFFERS_MB, Math.max(LEAST_SHARED_BUFFERS_MB, quarter))
}

/**
 * Variables of glibc, bytes, for each back end. The arrays of a commit are texts of some hundred kilobytes: without this each
 * is given back to the system as soon as it is free, and fetched again page by page for the next commit.
 */
const ALLOCATOR = { MALLOC_MMAP_THRESHOLD_: '8388608', MALLOC_TRIM_THRESHOLD_: '16777216' }

/** For a starting server without output. A server that replays its log reports progress every ten seconds. */
const START_TIMEOUT_MS = 180_000
const LEFTOVER_TIMEOUT_MS = 60_000
/** Back ends that outlived their server may need a moment to notice; until then their memory blocks a new one. */
const RETRY_FOR_MS = 30_000
const RETRY_PAUSE_MS = 250
const PASSING_TROUBLES = ['could not bind', 'shared memory block', '"postmaster.pid" already exists']

/** Throws an error whose message an operator can act on. */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedServer> {
  const log = options.log ?? (() => undefined)
  const user = unprivilegedUser()
  const binaries = postgresBinaries(user)
  makePrivateDirectory(options.dataDir)
  const directory = realpathSync(options.dataDir)
  const found = readRecord(directory)
  if (found === undefined && existsSync(join(directory, 'data'))) {
    throw new Error(
      `${directory} has PostgreSQL's data, but its server.json with the password is missing: restore the file from a copy`,
    )
  }
  refuseSecondLauncher(directory, found)
  const record: ServerRecord = {
    port: found?.port ?? null,
    password: found?.password ?? newPassword(),
    place: found?.place ?? placeFor(directory, user),
    made: found?.made ?? false,
    launcher: thisLauncher(),
  }
  const data = join(record.place, 'data')
  if (!existsSync(data) && (record.made || options.again === true)) {
    throw new Error(
      `the data of PostgreSQL is gone from ${data}: put it back, or remove ${directory} to begin with an empty ledger`,
    )
  }
  writeRecord(directory, record)
  if (existsSync(data)) await endLeftovers(data, log)
  else await createCluster(binaries, user, record, log)
  return startOnPort(binaries, user, directory, { ...record, made: true }, options, log)
}

/** Where the server on this directory listens, if a launcher that lives runs one. */
export function runningPostgresUrl(dataDir: string): string | undefined {
  const record = runningRecord(dataDir)
  return record === undefined ? undefined : urlOf(record.password, record.port, DATABASE)
}

/** The directory itself if the server's user can enter it, else one that it can; root's own directories stay closed. */
function placeFor(directory: string, user: User | undefined): string {
  if (isRoot()) chmodSync(directory, 0o711)
  if (canEnter(user, directory)) return directory
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 16)
  // A random part, because a directory that was deleted and made again must not meet the old data.
  const place = join(SYSTEM_PLACE, `${name}-${randomBytes(4).toString('hex')}`)
  mkdirSync(place, { recursive: true })
  chmodSync(SYSTEM_PLACE, 0o755)
  chmodSync(place, 0o711)
  // For whoever finds it there one day.
  writeFileSync(join(place, 'ledger'), `${directory}\n`)
  if (!canEnter(user, place)) {
    throw new Error(`PostgreSQL's user ${user?.name ?? ''} can enter neither ${directory} nor ${place}`)
  }
  return place
}

/** Made beside and renamed: half a cluster is never taken for a whole one. */
async function createCluster(
  binaries: PostgresBinaries,
  user: User | undefined,
  record: ServerRecord,
  log: (line: string) => void,
): Promise<void> {
  log('making a new PostgreSQL database')
  const half = join(record.place, 'data.new')
  rmSync(half, { recursive: true, force: true })
  mkdirSync(half, { recursive: true, mode: 0o700 })
  const passwordFile = join(record.place, 'password.new')
  replacePrivateFile(passwordFile, `${record.password}\n`)
  if (user !== undefined) {
    chownSync(half, user.uid, user.gid)
    chownSync(passwordFile, user.uid, user.gid)
  }
  try {
    await runToEnd({
      program: binaries.initdb,
      args: [
        `--pgdata=${half}`,
        `--username=${USER}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C',
        '--data-checksums',
      ],
      cwd: record.place,
      env: environment(),
      user,
      // What it says matters only when it fails, and then it is in the error.
      log: () => undefined,
    })
  } finally {
    rmSync(passwordFile, { force: true })
  }
  renameSync(half, join(record.place, 'data'))
}

async function startOnPort(
  binaries: PostgresBinaries,
  user: User | undefined,
  directory: string,
  record: ServerRecord,
  { port: wanted, sharedBuffersMb = quarterOfMemoryMb() }: PostgresOptions,
  log: (line: string) => void,
): Promise<EmbeddedServer> {
  let buffersMb = sharedBuffersMb
  let port = wanted ?? (await freePortNear(record.port))
  const giveUpAt = performance.now() + RETRY_FOR_MS
  for (;;) {
    if (wanted !== undefined && !(await isPortFree(wanted))) {
      throw new Error(`port ${wanted}, meant for PostgreSQL, is taken on ${LOOPBACK}`)
    }
    writeRecord(directory, { ...record, port })
    const server = await launch(
      binaries,
      user,
      record.place,
      { ...SETTINGS, shared_buffers: `${buffersMb}MB`, port: String(port) },
      log,
    )
    if (await isReady(server, record.place)) return ready(server, directory, { ...record, port }, port)
    await stopByStages(server, [
      ['SIGINT', 10_000],
      ['SIGQUIT', 10_000],
    ])
    const lines = server.lastLines()
    if (buffersMb > LEAST_SHARED_BUFFERS_MB && lines.some((line) => line.includes(MEMORY_REFUSED))) {
      log(`the system refuses PostgreSQL ${buffersMb} MB of memory: it gets ${LEAST_SHARED_BUFFERS_MB} MB`)
      buffersMb = LEAST_SHARED_BUFFERS_MB
      continue
    }
    const mayPass = PASSING_TROUBLES.some((trouble) => lines.some((line) => line.includes(trouble)))
    if (!mayPass || performance.now() > giveUpAt) throw new Error(`PostgreSQL did not start:\n${lines.join('\n')}`)
    await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS))
    if (wanted === undefined) port = await freePortNear(port)
    await endLeftovers(join(record.place, 'data'), log)
  }
}

function launch(
  binaries: PostgresBinaries,
  user: User | undefined,
  place: string,
  settings: Readonly<Record<string, string>>,
  log: (line: string) => void,
): Promise<ServerProcess> {
  return spawnServer({
    program: binaries.postgres,
    args: [
      '-D',
      join(place, 'data'),
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    cwd: place,
    env: environment(),
    user,
    log,
  })
}

/** The last line of postmaster.pid says `ready` once connections are taken. False when it ended before that. */
async function isReady(server: ServerProcess, place: string): Promise<boolean> {
  const says = (): boolean => {
    const lines = readPidFile(join(place, 'data'))
    return Number(lines[0]) === server.pid && lines[7]?.trim() === 'ready'
  }
  for (let line = server.lastLines().at(-1); ; line = server.lastLines().at(-1)) {
    if (await pollUntil(() => !server.running() || says(), START_TIMEOUT_MS)) break
    if (server.lastLines().at(-1) === line) break
  }
  return server.running() && says()
}

async function ready(
  server: ServerProcess,
  directory: string,
  record: ServerRecord,
  port: number,
): Promise<EmbeddedServer> {
  const stop = async (): Promise<void> => {
    // SIGINT: roll back what is open and end in order; SIGQUIT: end at once, the log is replayed at the next start.
    await stopByStages(server, [
      ['SIGINT', 30_000],
      ['SIGQUIT', 10_000],
      ['SIGKILL', 10_000],
    ])
    writeRecord(directory, { ...record, launcher: null })
  }
  try {
    await createDatabase(record.password, port)
  } catch (error) {
    await stop()
    throw error
  }
  noteRunning(directory, server.exited)
  const kill = (): void => server.signal('SIGQUIT')
  return { url: urlOf(record.password, port, DATABASE), port, pid: server.pid, exited: server.exited, stop, kill }
}

async function createDatabase(password: string, port: number): Promise<void> {
  const sql = postgres(urlOf(password, port, 'postgres'), { max: 1, onnotice: () => undefined })
  try {
    const found = await sql`SELECT 1 FROM pg_database WHERE datname = ${DATABASE}`
    if (found.length === 0) await sql`CREATE DATABASE ${sql(DATABASE)}`
  } finally {
    await sql.end({ timeout: 5 })
  }
}

function urlOf(password: string, port: number, database: string): string {
  return `postgres://${USER}:${password}@${LOOPBACK}:${port}/${database}`
}

/** Nothing of the launcher's environment: it may hold secrets, and PG* variables would change what the server does. */
function environment(): Record<string, string> {
  return { PATH: '/usr/bin:/bin', LANG: 'C', TZ: 'UTC', ...ALLOCATOR }
}

async function endLeftovers(data: string, log: (line: string) => void): Promise<void> {
  const orphans = processesOf('postgres', data)
  if (orphans.length > 0) {
    log(`ending the PostgreSQL server that an earlier start left behind (process ${orphans[0]?.pid ?? 0})`)
    await endAll(orphans)
  }
  await removeStalePidFile(data)
}

async function endAll(orphans: readonly ProcessIdentity[]): Promise<void> {
  const gone = (): boolean => !orphans.some(isAlive)
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    for (const orphan of orphans.filter(isAlive)) process.kill(orphan.pid, signal)
    if (await pollUntil(gone, LEFTOVER_TIMEOUT_MS)) return
  }
  throw new Error(`the PostgreSQL process ${orphans[0]?.pid ?? 0}, left from an earlier start, does not end`)
}

/**
 * PostgreSQL removes the file of a dead server itself, with two exceptions. One is a pid in use: a zombie process, or a
 * process that reuses the pid. The other is a file without a pid: a machine crash leaves it empty or full of zeros. The
 * file also protects against back ends that outlived their server, so it is removed only if there are none.
 */
async function removeStalePidFile(data: string): Promise<void> {
  const file = join(data, 'postmaster.pid')
  if (!existsSync(file)) return
  const pid = Number(readPidFile(data)[0]?.trim())
  const isNamed = Number.isInteger(pid) && pid > 0
  if (isNamed && !existsSync(`/proc/${pid}`)) return
  if (await pollUntil(() => strayProcessesOf('postgres').length === 0, LEFTOVER_TIMEOUT_MS)) {
    rmSync(file, { force: true })
    return
  }
  const strays = strayProcessesOf('postgres').join(', ')
  throw new Error(
    `PostgreSQL processes without a server are still running (${strays}): end them, remove ${file}, and start again`,
  )
}

function readPidFile(data: string): readonly string[] {
  try {
    return readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return []
  }
}
