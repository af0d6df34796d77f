/** `ledger up` as a child process of the bench: started, stopped, and restarted on its data. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SYSTEM_PLACE } from '../../infra/embedded/tools-directory.ts'
import { type Credentials, send } from '../support/client.ts'
import {
  type Cluster,
  type ClusterOptions,
  projectRoot,
  readPostgresRecord,
  until,
} from '../support/cluster-process.ts'
import { clusterProcesses } from '../support/cluster-process-table.ts'
import { freePorts } from '../support/free-ports.ts'

export interface BenchCluster extends Cluster {
  /** From the first start until every edge was ready, milliseconds. */
  readonly readyMs: number
  /** All processes: edges, nodes, nats-server, PostgreSQL. */
  readonly restart: () => Promise<Restarted>
}

export interface Restarted {
  /** From the signal until every process had ended. */
  readonly stoppedMs: number
  /** From the start until every edge is ready. */
  readonly readyMs: number
}

/** A measurement may outlast the default lifetime of a token. */
const LONG_TOKENS = { LEDGER_ACCESS_TOKEN_TTL_SECONDS: '86400' }
/** A small share for the auditor leaves the processors to the measured parts. */
const LITTLE_AUDITOR = { LEDGER_AUDITOR_SHARE: '2' }
const STOP_LIMIT_MS = 60_000
const READY_LIMIT_MS = 120_000
const KEPT_LINES = 200

/** A new ledger, whose data is deleted at the end. */
export async function startFresh({ env, ...options }: ClusterOptions): Promise<BenchCluster> {
  const dataDir = mkdtempSync(join(tmpdir(), 'ledger-bench-'))
  try {
    const cluster = await startKept(dataDir, { ...options, env: { ...LITTLE_AUDITOR, ...env } })
    return { ...cluster, stop: () => cluster.stop().finally(() => removeDirectory(dataDir)) }
  } catch (error) {
    removeDirectory(dataDir)
    throw error
  }
}

/** On a permanent data directory. Throws if the ledger does not become ready. */
export async function startKept(dataDir: string, options: ClusterOptions): Promise<BenchCluster> {
  const { nodes = 1, edges = 1, env } = options
  const ports = await freePorts(edges)
  const origins = ports.map((port) => `http://127.0.0.1:${port}`)
  let launched: Launched
  const isReady = async (): Promise<boolean> => {
    if (launched.hasEnded()) throw new Error(`the ledger has ended:\n${launched.lastLines()}`)
    const replies = await Promise.allSettled(origins.map((edge) => send(edge, { method: 'GET', path: '/readyz' })))
    return replies.every((reply) => reply.status === 'fulfilled' && reply.value.status === 200)
  }
  /** Duration, milliseconds. */
  const start = async (): Promise<number> => {
    const startedMs = performance.now()
    launched = launch(dataDir, ['--nodes', String(nodes), '--edges', String(edges)], {
      LEDGER_PORT: String(ports[0]),
      LEDGER_DATA_DIR: dataDir,
      ...LONG_TOKENS,
      ...env,
    })
    try {
      await until('the ledger is ready', READY_LIMIT_MS, isReady)
    } catch (cause) {
      await launched.stop()
      throw new Error(`the ledger did not start:\n${launched.lastLines()}`, { cause })
    }
    return performance.now() - startedMs
  }
  const readyMs = await start()
  return {
    origin: origins[0] ?? '',
    origins,
    dataDir,
    readyMs,
    clients: readClients(dataDir),
    processes: () => clusterProcesses(launched.pid),
    heads: (kind) => clusterProcesses(launched.pid).filter((found) => found.kind === kind && found.head),
    isReady,
    databaseUrl: () => {
      const { password, port } = readPostgresRecord(dataDir)
      return `postgres://ledger:${password}@127.0.0.1:${port}/ledger`
    },
    lastLines: () => launched.lastLines(),
    restart: async () => {
      const beganMs = performance.now()
      await launched.stop()
      return { stoppedMs: performance.now() - beganMs, readyMs: await start() }
    },
    stop: () => launched.stop(),
  }
}

/** Deletes the directory, and PostgreSQL's data if it lies elsewhere. No process may use them any more. */
export function removeDirectory(dataDir: string): void {
  try {
    const { place } = readPostgresRecord(dataDir)
    if (place.startsWith(`${SYSTEM_PLACE}/`)) rmSync(place, { recursive: true, force: true })
  } catch {
    // PostgreSQL had not been started yet.
  }
  rmSync(dataDir, { recursive: true, force: true })
}

/** Created at the first start, and kept with their secrets beside the data. */
function readClients(dataDir: string): Cluster['clients'] {
  const read = JSON.parse(readFileSync(join(dataDir, 'clients.json'), 'utf8')) as readonly {
    readonly client_id: string
    readonly client_secret: string
    readonly role: string
  }[]
  const of = (role: keyof Cluster['clients']): Credentials => {
    const client = read.find((each) => each.role === role)
    if (client === undefined) throw new Error(`${dataDir} has no client that is a ${role}`)
    return { clientId: client.client_id, clientSecret: client.client_secret }
  }
  return { viewer: of('viewer'), transactor: of('transactor'), admin: of('admin') }
}

interface Launched {
  readonly pid: number
  readonly hasEnded: () => boolean
  readonly lastLines: () => string
  /** A regular stop; processes that still run after a minute are killed. */
  readonly stop: () => Promise<void>
}

function launch(dataDir: string, numbers: readonly string[], env: Readonly<Record<string, string>>): Launched {
  const program = join(projectRoot(), 'infra', 'main', 'ledger.mjs')
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('LEDGER_'))
  const child = spawn(process.execPath, [program, 'up', ...numbers], {
    cwd: dataDir,
    env: { ...Object.fromEntries(others), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own: Ctrl-C reaches the bench, which stops the ledger in order.
    detached: true,
  })
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      lines.push(...text.split('\n').filter((line) => line !== ''))
      lines.splice(0, Math.max(0, lines.length - KEPT_LINES))
    })
  }
  const exited = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
  })
  const { pid } = child
  if (pid === undefined) throw new Error('`ledger up` could not be started')
  return {
    pid,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    lastLines: () => lines.join('\n'),
    stop: async () => {
      const descendants = clusterProcesses(pid)
      child.kill('SIGTERM')
      const late = setTimeout(() => {
        for (const left of [...descendants, ...clusterProcesses(pid)]) tryKill(left.pid)
      }, STOP_LIMIT_MS)
      await exited
      clearTimeout(late)
    },
  }
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has ended meanwhile.
  }
}
