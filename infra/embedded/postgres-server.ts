/**
 * Runs a PostgreSQL server for the ledger, on the loopback address.
 *   P1. Durability is not traded for speed: fsync, synchronous_commit and checksums are on.
 *   P2. The password is random, readable by the owner only, and never an argument or environment of a process.
 *   P3. Processes left behind by a killed launcher or server are ended before the next start, and never reused.
 *   P4. Lost data is never replaced by an empty database.
 *   P5. If the launcher is root, the server runs as an unprivileged user, and only that user can enter the data.
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
import { postgresBinaries, type PostgresBinaries } from './postgres-binaries.ts'
import { isAlive, processesOf, strayProcessesOf, type ProcessIdentity } from './process-table.ts'
import {
  pollUntil,
  runToEnd,
  spawnServer,
  stopByStages,
  type EmbeddedServer,
  type ServerProcess,
} from './server-process.ts'
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
import { SYSTEM_PLACE } from './tools-directory.ts'
import { canEnter, isRoot, unprivilegedUser, type User } from './unprivileged-user.ts'

export interface PostgresOptions {
  /** Used by this server only, and created if it is missing. */
  readonly dataDir: string
  /** Required port; by default the previous port, or any free one. */
  readonly port?: number
  /** True for a restart, which requires existing data. */
  readonly again?: boolean
  /** Size of the page cache, less if the system refuses it; by default a quarter of the memory of this process. */
  readonly sharedBuffersMb?: number
  readonly log?: (line: string) => void
}

/** Of every embedded server: its superuser and its database. */
export const [USER, DATABASE] = ['ledger', 'ledger']
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: LOOPBACK,
  unix_socket_directories: '',
  max_connections: '200',
  max_wal_size: '2GB',
  // A backup that follows the log copies a segment after its end.
  wal_keep_size: '128MB',
  // Ciphertext hardly compresses, and the attempt makes a commit 40 to 75 % slower.
  wal_compression: 'off',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Statements and values of rows do not belong in a log.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_parameter_max_length_on_error: '0',
}

const LEAST_SHARED_BUFFERS_MB = 128
const MOST_SHARED_BUFFERS_MB = 8_192
/** The system does not overcommit memory, or has a limit that this process cannot read. */
const MEMORY_REFUSED = 'could not map anonymous shared memory'

/** The recommended share of memory. The server allocates it as it reads. */
function quarterOfMemoryMb(): number {
  // 0, undefined or more than the total memory mean that this process has no limit.
  const limit = process.constrainedMemory() || Infinity
  const quarter = Math.floor(Math.min(totalmem(), limit) / 4 / 1_048_576)
  return Math.min(MOST_SHARED_BUFFERS_MB, Math.max(LEAST_SHARED_BUFFERS_MB, quarter))
}

/**
 * Variables of glibc for each back end, in bytes. By default, glibc returns the large arrays of a commit to the system, and
 * the next commit causes a page fault per page.
 */
const ALLOCATOR = { MALLOC_MMAP_THRESHOLD_: '8388608', MALLOC_TRIM_THRESHOLD_: '16777216' }

/** Limit for a starting server without output. During recovery it reports progress every ten seconds. */
const START_TIMEOUT_MS = 180_000
const LEFTOVER_TIMEOUT_MS = 60_000
/** Back ends that outlive their server block its shared memory until they notice. */
const RETRY_FOR_MS = 30_000
const RETRY_PAUSE_MS = 250
const PASSING_TROUBLES = ['could not bind', 'shared memory block', '"postmaster.pid" already exists']

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
      `the data of PostgreSQL is missing from ${data}: restore it, or remove ${directory} to begin with an empty ledger`,
    )
  }
  writeRecord(directory, record)
  if (existsSync(data)) await endLeftovers(data, log)
  else await createCluster(binaries, user, record, log)
  return startOnPort(binaries, user, directory, { ...record, made: true }, options, log)
}

/** The URL of the server on this directory, if its launcher is alive. */
export function runningPostgresUrl(dataDir: string): string | undefined {
  const record = runningRecord(dataDir)
  return record === undefined ? undefined : urlOf(record.password, record.port, DATABASE)
}

/** The directory itself if the server's user can enter it, else a directory below SYSTEM_PLACE. */
export function placeFor(directory: string, user: User | undefined): string {
  if (isRoot()) chmodSync(directory, 0o711)
  if (canEnter(user, directory)) return directory
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 16)
  // The random part separates the data of a directory that was deleted and created again.
  const place = join(SYSTEM_PLACE, `${name}-${randomBytes(4).toString('hex')}`)
  mkdirSync(place, { recursive: true })
  chmodSync(SYSTEM_PLACE, 0o755)
  chmodSync(place, 0o711)
  // Tells an operator which ledger owns the data.
  writeFileSync(join(place, 'ledger'), `${directory}\n`)
  if (!canEnter(user, place)) {
    throw new Error(`PostgreSQL's user ${user?.name ?? ''} can enter neither ${directory} nor ${place}`)
  }
  return place
}

/** Creates the cluster in another directory and renames it, so that `data` is always complete. */
async function createCluster(
  binaries: PostgresBinaries,
  user: User | undefined,
  record: ServerRecord,
  log: (line: string) => void,
): Promise<void> {
  log('creating a new PostgreSQL database')
  const draft = join(record.place, 'data.new')
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true, mode: 0o700 })
  const passwordFile = join(record.place, 'password.new')
  replacePrivateFile(passwordFile, `${record.password}\n`)
  if (user !== undefined) {
    chownSync(draft, user.uid, user.gid)
    chownSync(passwordFile, user.uid, user.gid)
  }
  try {
    await runToEnd({
      program: binaries.initdb,
      args: [
        `--pgdata=${draft}`,
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
      // The error of a failure contains the output.
      log: () => undefined,
    })
  } finally {
    rmSync(passwordFile, { force: true })
  }
  renameSync(draft, join(record.place, 'data'))
}

async function startOnPort(
  binaries: PostgresBinaries,
  user: User | undefined,
  directory: string,
  record: ServerRecord,
  { port: requiredPort, sharedBuffersMb = quarterOfMemoryMb() }: PostgresOptions,
  log: (line: string) => void,
): Promise<EmbeddedServer> {
  let buffersMb = sharedBuffersMb
  let port = requiredPort ?? (await freePortNear(record.port))
  const giveUpAt = performance.now() + RETRY_FOR_MS
  for (;;) {
    if (requiredPort !== undefined && !(await isPortFree(requiredPort))) {
      throw new Error(`port ${requiredPort} for PostgreSQL is taken on ${LOOPBACK}`)
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
      log(`the system refuses ${buffersMb} MB of shared memory: PostgreSQL uses ${LEAST_SHARED_BUFFERS_MB} MB`)
      buffersMb = LEAST_SHARED_BUFFERS_MB
      continue
    }
    const mayPass = PASSING_TROUBLES.some((trouble) => lines.some((line) => line.includes(trouble)))
    if (!mayPass || performance.now() > giveUpAt) throw new Error(`PostgreSQL did not start:\n${lines.join('\n')}`)
    await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS))
    if (requiredPort === undefined) port = await freePortNear(port)
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

/** Waits until postmaster.pid says `ready`. False if the server ends or stops reporting progress before. */
async function isReady(server: ServerProcess, place: string): Promise<boolean> {
  const isMarkedReady = (): boolean => {
    const lines = readPidFile(join(place, 'data'))
    return Number(lines[0]) === server.pid && lines[7]?.trim() === 'ready'
  }
  for (let line = server.lastLines().at(-1); ; line = server.lastLines().at(-1)) {
    if (await pollUntil(() => !server.running() || isMarkedReady(), START_TIMEOUT_MS)) break
    if (server.lastLines().at(-1) === line) break
  }
  return server.running() && isMarkedReady()
}

async function ready(
  server: ServerProcess,
  directory: string,
  record: ServerRecord,
  port: number,
): Promise<EmbeddedServer> {
  const stop = async (): Promise<void> => {
    // SIGINT rolls back open transactions and ends in order. SIGQUIT ends at once, and the next start recovers.
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
  markRunning(directory, server.exited)
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

/** Excludes the launcher's environment: it may hold secrets, and PG* variables would configure the server. */
function environment(): Record<string, string> {
  return { PATH: '/usr/bin:/bin', LANG: 'C', TZ: 'UTC', ...ALLOCATOR }
}

/** Ends the server of an earlier process that was killed. `data`: as it was given to PostgreSQL. */
export async function endLeftovers(data: string, log: (line: string) => void): Promise<void> {
  const orphans = processesOf('postgres', data)
  if (orphans.length > 0) {
    log(`ending the PostgreSQL server of an earlier start (process ${orphans[0]?.pid ?? 0})`)
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
  throw new Error(`the PostgreSQL process ${orphans[0]?.pid ?? 0} of an earlier start does not end`)
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
