/** Starts a second edge with other settings, as a process like that of an operator. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runningNatsUrl } from '../../../infra/embedded/nats-server.ts'
import { send } from '../../support/client/client.ts'
import { type Cluster, until } from '../../support/processes/cluster-process.ts'
import { freePort } from '../../support/processes/free-ports.ts'
import { PROGRAM } from '../start-harness.ts'
import type { Service } from './service.ts'

export interface OwnEdge {
  readonly origin: string
  readonly stop: () => Promise<void>
}

const DEADLINE_MS = 180_000

/** `settings` override those of the first edge. Resolves once the edge replies. */
export async function startOwnEdge({ cluster }: Service, settings: Readonly<Record<string, string>>): Promise<OwnEdge> {
  const [edge] = cluster.heads('edge')
  if (edge === undefined) throw new Error('there is no edge to start another beside')
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const env = {
    ...environmentOf(edge.pid),
    ...secretsOf(cluster),
    LEDGER_NODE_ID: `own-edge-${port}`,
    LEDGER_PORT: String(port),
    ...settings,
  }
  const child = spawn(process.execPath, [PROGRAM, 'edge'], { env, stdio: 'ignore' })
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await until('the edge has ended', DEADLINE_MS, () => hasEnded(child))
  }
  try {
    await until('the edge answers', DEADLINE_MS, () => {
      if (hasEnded(child)) throw new Error('the edge has ended')
      return send(origin, { method: 'GET', path: '/healthz' }).then(
        ({ status }) => status === 200,
        () => false,
      )
    })
  } catch (error) {
    await stop()
    throw error
  }
  return { origin, stop }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** The secrets that the launcher passes to its edge beside the environment; the master key is in the data directory. */
function secretsOf({ dataDir, databaseUrl }: Cluster): Record<string, string> {
  const natsUrl = runningNatsUrl(join(dataDir, 'nats'))
  if (natsUrl === undefined) throw new Error('there is no nats-server for another edge')
  return { LEDGER_DATABASE_URL: databaseUrl(), LEDGER_NATS_URL: natsUrl }
}

/** From Linux (proc_pid_environ(5)), without the variable that announces secrets. */
function environmentOf(pid: number): Record<string, string> {
  const entries = readFileSync(`/proc/${pid}/environ`, 'utf8')
    .split('\0')
    .filter((entry) => entry.includes('=') && !entry.startsWith('LEDGER_HANDED_SECRETS='))
  return Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  )
}
