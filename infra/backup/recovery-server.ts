/**
 * A PostgreSQL that recovers a restored data directory, and serves this process only.
 *   P1. It listens on a socket in a directory that only its user can enter, and reads no configuration file of the restored ones
 *       except postgresql.auto.conf, which the caller sets aside.
 *   P2. It ends on a timeline of its own, so that the ledger refuses it until an administrator accepts it.
 */
import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresBinaries } from '../embedded/postgres-binaries.ts'
import { findProgram, isProgram } from '../embedded/programs.ts'
import { pollUntil, type ServerProcess, spawnServer, stopByStages } from '../embedded/server-process.ts'
import type { User } from '../embedded/unprivileged-user.ts'
import { BackupUnusable } from './backup-directory.ts'

export interface RecoveryOptions {
  /** The restored data directory. */
  readonly data: string
  /** Of the form 170010. */
  readonly version: number
  readonly superuser: string
  readonly database: string
  readonly user: User | undefined
  /** Milliseconds since 1970: recovery ends before the first later commit. */
  readonly untilMs: number | undefined
  readonly signal: AbortSignal
  /** Takes PostgreSQL's lines. */
  readonly log: (line: string) => void
}

export interface RecoveredServer {
  readonly url: string
  /** Recovery ended at the end of the WAL, not at a time. */
  readonly isWhole: boolean
  /** Of the last commit, as PostgreSQL writes it; undefined: the WAL has none. */
  readonly lastCommit: string | undefined
  /** Ends it in order, with everything on disk. */
  readonly stop: () => Promise<void>
}

const TARGET_NOT_REACHED = 'recovery ended before configured recovery target was reached'
const LAST_COMMIT = /last completed transaction was at log time (.+)$/
const LOOK_MS = 86_400_000

/** Throws BackupUnusable when PostgreSQL cannot recover the directory. */
export async function startRecovered(options: RecoveryOptions): Promise<RecoveredServer> {
  const place = mkdtempSync(join(tmpdir(), 'ledger-restore-'))
  const remove = (): void => rmSync(place, { recursive: true, force: true })
  try {
    const program = postgresOf(options.version, options.user)
    writeFileSync(join(place, 'hba'), 'local all all trust\n')
    writeFileSync(join(place, 'empty'), '')
    if (options.user !== undefined) {
      for (const path of [place, join(place, 'hba'), join(place, 'empty')]) {
        chownSync(path, options.user.uid, options.user.gid)
      }
    }
    const first = await recover(program, place, options)
    // The WAL has no commit after the time: it is recovered as a whole.
    const isShort = first.server === undefined && first.lines.some((line) => line.includes(TARGET_NOT_REACHED))
    const { server, lines } = isShort ? await recover(program, place, { ...options, untilMs: undefined }) : first
    if (server === undefined) {
      throw new BackupUnusable(`PostgreSQL cannot recover the backup:\n${lines.slice(-KEPT_LINES).join('\n')}`)
    }
    const commit = lines.flatMap((line) => LAST_COMMIT.exec(line)?.[1] ?? []).at(-1)
    const { superuser, database } = options
    return {
      url: `postgres://${encodeURIComponent(superuser)}@${encodeURIComponent(place)}:5432/${encodeURIComponent(database)}`,
      isWhole: options.untilMs === undefined || isShort,
      lastCommit: commit,
      stop: async () => {
        const inOrder = await stopByStages(server, STAGES)
        remove()
        if (!inOrder) throw new Error('PostgreSQL did not end in order after the restore')
      },
    }
  } catch (error) {
    remove()
    throw error
  }
}

const KEPT_LINES = 20
const STAGES = [
  ['SIGINT', 600_000],
  ['SIGQUIT', 10_000],
  ['SIGKILL', 10_000],
] as const

async function recover(
  program: string,
  place: string,
  { data, user, untilMs, signal, log }: RecoveryOptions,
): Promise<{ readonly server: ServerProcess | undefined; readonly lines: readonly string[] }> {
  const lines: string[] = []
  const settings: Readonly<Record<string, string>> = {
    config_file: join(place, 'empty'),
    hba_file: join(place, 'hba'),
    ident_file: join(place, 'empty'),
    listen_addresses: '',
    unix_socket_directories: place,
    port: '5432',
    ssl: 'off',
    archive_mode: 'off',
    shared_preload_libraries: '',
    synchronous_standby_names: '',
    primary_conninfo: '',
    logging_collector: 'off',
    log_destination: 'stderr',
    lc_messages: 'C',
    log_timezone: 'UTC',
    log_startup_progress_interval: '2s',
    // Statements and values of rows do not belong in a log.
    log_error_verbosity: 'terse',
    log_min_error_statement: 'panic',
    autovacuum: 'off',
    // Without reads during recovery, its settings need not be those of the primary.
    hot_standby: 'off',
    // All WAL is in pg_wal: the command finds none elsewhere.
    restore_command: 'false',
    recovery_target_timeline: 'current',
    recovery_target_action: 'promote',
    max_wal_size: '4GB',
    // The setting takes no abbreviation of a time zone, such as Z.
    ...(untilMs === undefined ? {} : { recovery_target_time: new Date(untilMs).toISOString().replace('Z', '+00') }),
  }
  const server = await spawnServer({
    program,
    args: ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    cwd: place,
    env: { PATH: '/usr/bin:/bin', LANG: 'C', TZ: 'UTC' },
    user,
    log: (line) => {
      lines.push(line)
      log(line)
    },
  })
  const isReady = (): boolean => readyIn(data, server.pid)
  await pollUntil(() => signal.aborted || !server.running() || isReady(), LOOK_MS, 100)
  if (!signal.aborted && server.running() && isReady()) return { server, lines }
  await stopByStages(server, STAGES)
  signal.throwIfAborted()
  return { server: undefined, lines }
}

/** The eighth line of postmaster.pid says so, also while nothing may connect. */
function readyIn(data: string, pid: number): boolean {
  const path = join(data, 'postmaster.pid')
  if (!existsSync(path)) return false
  const lines = readFileSync(path, 'utf8').split('\n')
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready'
}

/** The embedded PostgreSQL, or an installed one, of the major version of the backup. */
function postgresOf(version: number, user: User | undefined): string {
  const major = Math.floor(version / 10_000)
  const candidates = [
    () => postgresBinaries(user).postgres,
    () => `/usr/lib/postgresql/${major}/bin/postgres`,
    () => findProgram('postgres') ?? '',
  ]
  for (const candidate of candidates) {
    try {
      const program = candidate()
      if (isProgram(program) && majorOf(program) === major) return program
    } catch {
      // Not installed for this system.
    }
  }
  throw new BackupUnusable(`the backup is of PostgreSQL ${major}, whose program postgres is not on this machine`)
}

function majorOf(program: string): number {
  const text = execFileSync(program, ['--version'], { encoding: 'utf8', timeout: 20_000 })
  return Number(/\(PostgreSQL\) ([0-9]+)/.exec(text)?.[1])
}
