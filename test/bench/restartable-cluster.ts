/** A ledger of the bench's own that can be stopped in order and started again on its data. */
import { type Cluster, type ClusterOptions, startCluster, until } from '../support/cluster-process.ts'
import { type ClusterProcess, clusterProcesses } from '../support/cluster-process-table.ts'
import { type LaunchedLedger, launchLedger, LONG_TOKENS, READY_LIMIT_MS, STOP_LIMIT_MS } from './launched-ledger.ts'

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

export async function startRestartable(options: ClusterOptions): Promise<RestartableCluster> {
  const env = { ...LONG_TOKENS, ...options.env }
  const first = await startCluster({ ...options, env })
  const { nodes = 1, edges = 1 } = options
  let launched: LaunchedLedger | undefined
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
      launched = launchLedger({
        dataDir: first.dataDir,
        port: Number(new URL(first.origin).port),
        nodes,
        edges,
        // The clients are there already.
        env: { LEDGER_BOOTSTRAP_CLIENTS: '[]', ...env },
      })
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
