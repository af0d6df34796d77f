/** A ledger of the bench's own that can be stopped in order and started again on its data. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { type Cluster, type ClusterOptions, projectRoot, startCluster, until } from '../support/cluster-process.ts'
import { type ClusterProcess, clusterProcesses } from '../support/cluster-process-table.ts'

export interface RestartableCluster extends Cluster {
  /** Everything: edges, nodes, nats-server, PostgreSQL. */
  readonly restart: () => Promise<Restarted>
}

export interface Restarted {
  /** From the signal until every process was gone. */
  readonly stoppedMs: number
  /** From the start until every edge says that it is ready. */
  readonly readyMs: number
}

interface Launched {
  readonly pid: number
  readonly lastLines: () => string
  readonly stop: () => Promise<void>
}

/** What is measured may take longer than a token lives by default. */
const TOKEN_TTL_SECONDS = '86400'
const STOP_LIMIT_MS = 60_000
const READY_LIMIT_MS = 120_000
const KEPT_LINES = 200

export async function startRestartable(options: ClusterOptions): Promise<RestartableCluster> {
  const env = { LEDGER_ACCESS_TOKEN_TTL_SECONDS: TOKEN_TTL_SECONDS, ...options.env }
  const first = await startCluster({ ...options, env })
  let launched: Launched | undefined
  const processes = (): readonly ClusterProcess[] =>
    launched === undefined ? first.processes() : clusterProcesses(launched.pid)
  const stopCurrent = async (): Promise<void> => {
    if (launched !== undefined) return launched.stop()
    for (const { pid } of first.heads('supervisor')) process.kill(pid, 'SIGTERM')
    await until('the ledger has stopped', STOP_LIMIT_MS, () => processes().length === 0)
  }
  return {
    ...first,
    processes,
    heads: (kind) => processes().filter((found) => found.kind === kind && found.head),
    lastLines: () => (launched ?? first).lastLines(),
    restart: async () => {
      const beganMs = performance.now()
      await stopCurrent()
      const stoppedMs = performance.now() - beganMs
      const startedMs = performance.now()
      launched = launch(first, { ...options, env })
      await until('the ledger is ready again', READY_LIMIT_MS, () => first.isReady())
      return { stoppedMs, readyMs: performance.now() - startedMs }
    },
    stop: async () => {
      try {
        await launched?.stop()
      } finally {
        await first.stop()
      }
    },
  }
}

function launch(cluster: Cluster, { nodes = 1, edges = 1, env }: ClusterOptions): Launched {
  const program = join(projectRoot(), 'infra', 'main', 'ledger.mjs')
  const child = spawn(process.execPath, [program, 'up', '--nodes', String(nodes), '--edges', String(edges)], {
    cwd: cluster.dataDir,
    env: {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('LEDGER_'))),
      LEDGER_PORT: new URL(cluster.origin).port,
      LEDGER_DATA_DIR: cluster.dataDir,
      // They are there already.
      LEDGER_BOOTSTRAP_CLIENTS: '[]',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: Ctrl-C reaches the bench, which stops the ledger in order.
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
    // It has ended meanwhile.
  }
}
