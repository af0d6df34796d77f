/** A whole ledger as a user starts it: `ledger up` as a process of its own, on a data directory that is thrown away. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SYSTEM_PLACE } from '../../../infra/embedded/tools-directory.ts'
import { type Credentials, send } from '../client/client.ts'
import { type ClusterProcess, clusterProcesses, type ProcessKind } from './cluster-process-table.ts'
import { freePorts } from './free-ports.ts'

export interface ClusterOptions {
  readonly nodes?: number
  readonly edges?: number
  /** Of the edges; free ones by default. */
  readonly ports?: readonly number[]
  /** Beside the ones that are always set. */
  readonly env?: Readonly<Record<string, string>>
  /** Each line that the ledger prints or logs, as it comes. */
  readonly onLine?: (line: string) => void
}

export interface Cluster {
  /** Of the first edge. */
  readonly origin: string
  /** Of every edge. */
  readonly origins: readonly string[]
  readonly dataDir: string
  /** By role, as the first start has made them. */
  readonly clients: Readonly<Record<'viewer' | 'transactor' | 'admin', Credentials>>
  readonly processes: () => readonly ClusterProcess[]
  /** The main processes of a kind, without what they have started. */
  readonly heads: (kind: ProcessKind) => readonly ClusterProcess[]
  /** Whether every edge says so. */
  readonly isReady: () => Promise<boolean>
  /** Of the embedded PostgreSQL, with its password: for looks behind the interface. */
  readonly databaseUrl: () => string
  /** The end of its output and log, for messages. */
  readonly lastLines: () => string
  /** Ends everything. */
  readonly stop: () => Promise<void>
}

const START_TIMEOUT_MS = 180_000
const STOP_TIMEOUT_MS = 180_000
const POLL_MS = 50
const KEPT_LINES = 200

/** A new ledger, whose data is removed when it is stopped. */
export async function startCluster({ env, ...options }: ClusterOptions = {}): Promise<Cluster> {
  const dataDir = mkdtempSync(join(tmpdir(), 'ledger-cluster-'))
  try {
    // Only tests of the auditor give it processor time.
    const cluster = await startClusterOn(dataDir, { ...options, env: { LEDGER_AUDITOR_SHARE: '2', ...env } })
    return { ...cluster, stop: () => cluster.stop().finally(() => removeData(dataDir)) }
  } catch (error) {
    removeData(dataDir)
    throw error
  }
}

/** On a data directory that stays. */
export async function startClusterOn(dataDir: string, options: ClusterOptions): Promise<Cluster> {
  const { edges = 1 } = options
  const ports = options.ports ?? (await freePorts(edges))
  const origins = ports.map((port) => `http://127.0.0.1:${port}`)
  const program = join(projectRoot(), 'infra', 'main', 'ledger.mjs')
  const numbers = ['--nodes', String(options.nodes ?? 1), '--edges', String(edges)]
  const child = spawn(process.execPath, [program, 'up', ...numbers], {
    cwd: dataDir,
    env: {
      ...withoutLedger(process.env),
      LEDGER_PORT: String(ports[0]),
      LEDGER_DATA_DIR: dataDir,
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: Ctrl-C reaches the test, which stops the ledger in order.
    detached: true,
  })
  const lines = keepLines(child, options.onLine)
  const { pid } = child
  if (pid === undefined) throw new Error('`ledger up` could not be started')
  const exited = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
  })
  const isReady = async (): Promise<boolean> => {
    const replies = await Promise.allSettled(origins.map((edge) => send(edge, { method: 'GET', path: '/readyz' })))
    return replies.every((reply) => reply.status === 'fulfilled' && reply.value.status === 200)
  }
  const stop = async (): Promise<void> => {
    const descendants = clusterProcesses(pid)
    child.kill('SIGTERM')
    if (await within(exited, STOP_TIMEOUT_MS)) return
    for (const left of [...descendants, ...clusterProcesses(pid)]) tryKill(left.pid)
    throw new Error(`the ledger did not stop in ${STOP_TIMEOUT_MS} ms:\n${lines.join('\n')}`)
  }
  try {
    await until('the ledger is ready', START_TIMEOUT_MS, async () => {
      if (child.exitCode !== null) throw new Error('`ledger up` has ended')
      return isReady()
    })
  } catch (cause) {
    await stop().catch(() => undefined)
    throw new Error(`the ledger did not start:\n${lines.join('\n')}`, { cause })
  }
  return {
    origin: origins[0] ?? '',
    origins,
    dataDir,
    clients: readClients(
      options.env?.['LEDGER_BOOTSTRAP_CLIENTS'] ?? readFileSync(join(dataDir, 'clients.json'), 'utf8'),
    ),
    processes: () => clusterProcesses(pid),
    heads: (kind) => clusterProcesses(pid).filter((found) => found.kind === kind && found.head),
    isReady,
    databaseUrl: () => databaseUrlOf(dataDir),
    lastLines: () => lines.join('\n'),
    stop,
  }
}

/** Asks again until the answer is true. Throws, naming `what`, when the time is over. */
export async function until(what: string, timeoutMs: number, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs
  while (!(await holds())) {
    if (performance.now() > deadlineMs) throw new Error(`after ${timeoutMs} ms still not: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/** The checkout, from its sources as from its build. */
export function projectRoot(): string {
  let directory = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(directory, 'package.json'))) directory = dirname(directory)
  return directory
}

function readClients(text: string): Cluster['clients'] {
  const read = JSON.parse(text) as readonly {
    readonly client_id: string
    readonly client_secret: string
    readonly role: string
  }[]
  const of = (role: keyof Cluster['clients']): Credentials => {
    const client = read.find((each) => each.role === role)
    if (client === undefined) throw new Error(`no client is a ${role}`)
    return { clientId: client.client_id, clientSecret: client.client_secret }
  }
  return { viewer: of('viewer'), transactor: of('transactor'), admin: of('admin') }
}

function withoutLedger(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(?:LEDGER|OTEL)_/.test(name)))
}

function keepLines(child: ChildProcess, onLine: ((line: string) => void) | undefined): readonly string[] {
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    let rest = ''
    stream?.setEncoding('utf8').on('data', (text: string) => {
      const parts = `${rest}${text}`.split('\n')
      rest = parts.pop() ?? ''
      for (const line of parts) {
        lines.push(line)
        if (lines.length > KEPT_LINES) lines.shift()
        onLine?.(line)
      }
    })
  }
  return lines
}

function databaseUrlOf(dataDir: string): string {
  const record = readPostgresRecord(dataDir)
  return `postgres://ledger:${record.password}@127.0.0.1:${record.port}/ledger`
}

export function readPostgresRecord(dataDir: string): {
  readonly port: number
  readonly password: string
  readonly place: string
} {
  return JSON.parse(readFileSync(join(dataDir, 'postgres', 'server.json'), 'utf8')) as ReturnType<
    typeof readPostgresRecord
  >
}

/** Deletes the directory, and PostgreSQL's data if it lies elsewhere. No process may use them any more. */
export function removeData(dataDir: string): void {
  try {
    const { place } = readPostgresRecord(dataDir)
    if (place.startsWith(`${SYSTEM_PLACE}/`)) rmSync(place, { recursive: true, force: true })
  } catch {
    // There was no PostgreSQL yet.
  }
  rmSync(dataDir, { recursive: true, force: true })
}

async function within(promise: Promise<void>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs)
  })
  const done = await Promise.race([promise.then(() => true), late])
  clearTimeout(timer)
  return done
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}
