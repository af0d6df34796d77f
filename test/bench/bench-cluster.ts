/** `ledger up` as a child process of the bench: started, stopped, and restarted on its data. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Cluster, type ClusterOptions, removeData, startClusterOn } from '../support/processes/cluster-process.ts'
import { freePorts } from '../support/processes/free-ports.ts'

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

/** A new ledger, whose data is deleted at the end. */
export async function startFresh({ env, ...options }: ClusterOptions): Promise<BenchCluster> {
  const dataDir = mkdtempSync(join(tmpdir(), 'ledger-bench-'))
  try {
    const cluster = await startKept(dataDir, { ...options, env: { ...LITTLE_AUDITOR, ...env } })
    return { ...cluster, stop: () => cluster.stop().finally(() => removeData(dataDir)) }
  } catch (error) {
    removeData(dataDir)
    throw error
  }
}

/** On a permanent data directory. Throws if the ledger does not become ready. */
export async function startKept(dataDir: string, { env, ...options }: ClusterOptions): Promise<BenchCluster> {
  const ports = await freePorts(options.edges ?? 1)
  const start = async (): Promise<{ readonly cluster: Cluster; readonly readyMs: number }> => {
    const startedMs = performance.now()
    const cluster = await startClusterOn(dataDir, { ...options, ports, env: { ...LONG_TOKENS, ...env } })
    return { cluster, readyMs: performance.now() - startedMs }
  }
  let running = await start()
  return {
    ...running.cluster,
    readyMs: running.readyMs,
    processes: () => running.cluster.processes(),
    heads: (kind) => running.cluster.heads(kind),
    lastLines: () => running.cluster.lastLines(),
    restart: async () => {
      const beganMs = performance.now()
      await running.cluster.stop()
      const stoppedMs = performance.now() - beganMs
      running = await start()
      return { stoppedMs, readyMs: running.readyMs }
    },
    stop: () => running.cluster.stop(),
  }
}
