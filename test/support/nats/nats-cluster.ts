/** Three nats-servers that are one cluster, each a process that can be killed and started again. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'nats'
import { findNatsServer } from '../../../infra/embedded/nats-server.ts'
import { Closing } from '../closing.ts'
import { until } from '../processes/cluster-process.ts'
import { freePorts } from '../processes/free-ports.ts'

export interface NatsCluster {
  readonly servers: readonly NatsServer[]
  readonly close: () => Promise<void>
}

export interface NatsServer {
  readonly port: number
  readonly kill: () => Promise<void>
  readonly start: () => Promise<void>
}

export const NATS_USER = 'ledger'
export const NATS_PASSWORD = 'a password of this test alone'
const START_TIMEOUT_MS = 180_000

/** Resolves once every server is up and JetStream has a leader. */
export async function startNatsCluster(size: number): Promise<NatsCluster> {
  const directory = mkdtempSync(join(tmpdir(), 'ledger-nats-cluster-'))
  const program = await findNatsServer()
  const ports = await freePorts(2 * size)
  const routes = ports.slice(size).map((port) => `"nats://127.0.0.1:${port}"`)
  const servers = Array.from({ length: size }, (_, index) => {
    const store = join(directory, `server-${index}`)
    mkdirSync(store)
    const config = join(store, 'nats.conf')
    const [port = 0, routePort = 0] = [ports[index], ports[size + index]]
    writeFileSync(
      config,
      `server_name: "server-${index}"
listen: "127.0.0.1:${port}"
max_payload: 8388608
authorization { user: "${NATS_USER}", password: "${NATS_PASSWORD}" }
jetstream { store_dir: ${JSON.stringify(store)}, max_memory_store: 64MB, max_file_store: 1GB }
${size === 1 ? '' : `cluster { name: "test", listen: "127.0.0.1:${routePort}", no_advertise: true, routes: [${routes.join(', ')}] }`}
`,
      { mode: 0o600 },
    )
    return serverOf(program, config, port)
  })
  const closing = new Closing()
  closing.add(() => rmSync(directory, { recursive: true, force: true }))
  closing.add(() => Promise.all(servers.map((server) => server.kill())))
  return closing.unlessStarted(async () => {
    await Promise.all(servers.map((server) => server.start()))
    await until('JetStream has a leader', START_TIMEOUT_MS, () => hasLeader(ports.slice(0, size)))
    return { servers, close: () => closing.close() }
  })
}

function serverOf(program: string, config: string, port: number): NatsServer {
  let child: ChildProcess | undefined
  let ended: Promise<void> = Promise.resolve()
  return {
    port,
    start: async () => {
      const started = spawn(program, ['-c', config], { stdio: 'ignore' })
      child = started
      ended = new Promise((resolve) => {
        started.once('close', () => resolve())
      })
      await until(`nats-server answers on ${port}`, START_TIMEOUT_MS, () => answers(port))
    },
    kill: async () => {
      child?.kill('SIGKILL')
      await ended
    },
  }
}

async function answers(port: number): Promise<boolean> {
  const link = await linkTo([port])
  await link?.close()
  return link !== undefined
}

async function hasLeader(ports: readonly number[]): Promise<boolean> {
  const link = await linkTo(ports)
  if (link === undefined) return false
  try {
    const manager = await link.jetstreamManager()
    await manager.getAccountInfo()
    return true
  } catch {
    return false
  } finally {
    await link.close()
  }
}

function linkTo(ports: readonly number[]) {
  return connect({
    servers: ports.map((port) => `127.0.0.1:${port}`),
    user: NATS_USER,
    pass: NATS_PASSWORD,
    timeout: 1_000,
    maxReconnectAttempts: 0,
    reconnect: false,
  }).catch(() => undefined)
}
