/** A ledger on a data directory that was there before and stays: started, stopped and started again. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Credentials, send } from '../support/client.ts'
import { type ClusterOptions, readPostgresRecord, until } from '../support/cluster-process.ts'
import { clusterProcesses } from '../support/cluster-process-table.ts'
import { freePorts } from '../support/free-ports.ts'
import { type LaunchedLedger, launchLedger, LONG_TOKENS, READY_LIMIT_MS } from './launched-ledger.ts'
import type { RestartableCluster } from './restartable-cluster.ts'

export interface KeptCluster extends RestartableCluster {
  /** From the first start until every edge said that it was ready, milliseconds. */
  readonly readyMs: number
}

type Clients = KeptCluster['clients']

/** `stop` leaves the data. Throws when it does not become ready. */
export async function startKept(dataDir: string, options: ClusterOptions): Promise<KeptCluster> {
  const { nodes = 1, edges = 1 } = options
  const ports = await freePorts(edges)
  const origins = ports.map((port) => `http://127.0.0.1:${port}`)
  const launch = (): LaunchedLedger =>
    launchLedger({ dataDir, port: ports[0] ?? 0, nodes, edges, env: { ...LONG_TOKENS, ...options.env } })
  let launched: LaunchedLedger
  const isReady = async (): Promise<boolean> => {
    if (launched.hasEnded()) throw new Error(`the ledger has ended:\n${launched.lastLines()}`)
    const replies = await Promise.allSettled(origins.map((edge) => send(edge, { method: 'GET', path: '/readyz' })))
    return replies.every((reply) => reply.status === 'fulfilled' && reply.value.status === 200)
  }
  /** How long it took, milliseconds. */
  const start = async (): Promise<number> => {
    const startedMs = performance.now()
    launched = launch()
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

/** Those that were made at the first start, and are kept with their secrets beside the data. */
function readClients(dataDir: string): Clients {
  const read = JSON.parse(readFileSync(join(dataDir, 'clients.json'), 'utf8')) as readonly {
    readonly client_id: string
    readonly client_secret: string
    readonly role: string
  }[]
  const of = (role: keyof Clients): Credentials => {
    const client = read.find((each) => each.role === role)
    if (client === undefined) throw new Error(`${dataDir} has no client that is a ${role}`)
    return { clientId: client.client_id, clientSecret: client.client_secret }
  }
  return { viewer: of('viewer'), transactor: of('transactor'), admin: of('admin') }
}
