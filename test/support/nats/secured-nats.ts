/** nats-servers on the configuration that is deployed, with certificates and credentials made by the script beside it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findNatsServer } from '../../../infra/embedded/nats-server.ts'
import { connectNats, type NatsLink } from '../../../infra/nats/connection.ts'
import type { Log } from '../../../runtime/ports/log.ts'
import { Closing } from '../closing.ts'
import { projectRoot, until } from '../processes/cluster-process.ts'
import { freePorts } from '../processes/free-ports.ts'
import type { NatsCluster, NatsServer } from './nats-cluster.ts'

export type NatsRole = 'node' | 'edge'

export interface SecuredServer extends NatsServer {
  /** Where other servers connect. */
  readonly routePort: number
  readonly logLines: () => readonly string[]
}

export interface SecuredNats extends NatsCluster {
  readonly servers: readonly SecuredServer[]
  /** Beside the address, which begins with `tls://`. */
  readonly environmentOf: (role: NatsRole) => Readonly<Record<string, string>>
  readonly connect: (role: NatsRole, log: Log, inboxPrefix?: string) => Promise<NatsLink>
  readonly secrets: string
}

const START_TIMEOUT_MS = 180_000
const CONFIG = 'infra/deploy/nats/nats.conf'
const LINES_KEPT = 500

/** The files that the script makes, in a directory of its own. */
export function makeSecrets(natsServers: readonly string[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'ledger-secrets-'))
  const script = join(projectRoot(), 'infra', 'deploy', 'make-secrets.mjs')
  const { status, stderr } = spawnSync(process.execPath, [script, directory, ...natsServers])
  if (status !== 0) throw new Error(`no secrets: ${stderr.toString()}`)
  return directory
}

/** 3: the very file. 1: without its cluster, which alone would never have a leader. */
export async function startSecuredNats(size: 1 | 3): Promise<SecuredNats> {
  const names = Array.from({ length: size }, (_, index) => `nats-${index + 1}`)
  const secrets = makeSecrets(names)
  const program = await findNatsServer()
  const ports = await freePorts(3 * size)
  const routes = JSON.stringify(ports.slice(size, 2 * size).map((port) => `nats://127.0.0.1:${port}`))
  const servers = names.map((name, index) => {
    const [port = 0, routePort = 0, monitorPort = 0] = [0, 1, 2].map((nth) => ports[index + nth * size])
    const store = join(secrets, `${name}.store`)
    const env = { ...natsEnvironment(secrets, name), ...placesOf(port, routePort, monitorPort), NATS_ROUTES: routes }
    return serverOf(
      { program, config: configFor(size, secrets), env: { ...env, NATS_STORE_DIR: store } },
      port,
      routePort,
    )
  })
  const closing = new Closing()
  closing.add(() => rmSync(secrets, { recursive: true, force: true }))
  closing.add(() => Promise.all(servers.map((server) => server.kill())))
  await closing.unlessStarted(() => Promise.all(servers.map((server) => server.start())))
  const environmentOf = (role: NatsRole) => ({
    LEDGER_NATS_CREDENTIALS_FILE: join(secrets, `nats-${role}.nk`),
    LEDGER_NATS_CA_FILE: join(secrets, 'ca.pem'),
  })
  return {
    servers,
    secrets,
    environmentOf,
    connect: async (role, log, inboxPrefix = `_INBOX_${role.toUpperCase()}`) => {
      const link = await connectNats({
        urls: servers.map(({ port }) => `tls://127.0.0.1:${port}`),
        credentialsFile: environmentOf(role).LEDGER_NATS_CREDENTIALS_FILE,
        tls: { caFile: environmentOf(role).LEDGER_NATS_CA_FILE },
        name: role,
        inboxPrefix,
        log,
      })
      closing.add(() => link.close())
      return link
    },
    close: () => closing.close(),
  }
}

/** The environment that the file reads, as far as it is the same wherever servers listen. */
export function natsEnvironment(secrets: string, name: string): Readonly<Record<string, string>> {
  const keys = readFileSync(join(secrets, 'nats.env'), 'utf8').trim().split('\n')
  return {
    ...Object.fromEntries(keys.map((line) => line.split('=') as [string, string])),
    NATS_SERVER_NAME: name,
    NATS_CERT_FILE: join(secrets, `${name}.pem`),
    NATS_KEY_FILE: join(secrets, `${name}.key`),
    NATS_CA_FILE: join(secrets, 'ca.pem'),
  }
}

export function deployedNatsConfig(): string {
  return join(projectRoot(), CONFIG)
}

function placesOf(port: number, routePort: number, monitorPort: number): Readonly<Record<string, string>> {
  return {
    NATS_HOST: '127.0.0.1',
    NATS_PORT: String(port),
    NATS_CLUSTER_PORT: String(routePort),
    NATS_ROUTE_ADVERTISE: `127.0.0.1:${routePort}`,
    NATS_MONITOR: `127.0.0.1:${monitorPort}`,
  }
}

function configFor(size: 1 | 3, directory: string): string {
  if (size === 3) return deployedNatsConfig()
  const whole = readFileSync(deployedNatsConfig(), 'utf8')
  const alone = whole.replace(/^cluster \{\n[\s\S]*?^\}\n/m, '')
  if (alone === whole) throw new Error('the configuration has no cluster to leave out')
  const path = join(directory, 'alone.conf')
  writeFileSync(path, alone)
  return path
}

interface ServerFiles {
  readonly program: string
  readonly config: string
  readonly env: Readonly<Record<string, string>>
}

function serverOf({ program, config, env }: ServerFiles, port: number, routePort: number): SecuredServer {
  const lines: string[] = []
  let child: ChildProcess | undefined
  let ended: Promise<void> = Promise.resolve()
  return {
    port,
    routePort,
    logLines: () => lines,
    start: async () => {
      const started = spawn(program, ['-c', config], { env: { ...env }, stdio: ['ignore', 'ignore', 'pipe'] })
      child = started
      started.stderr.setEncoding('utf8').on('data', (text: string) => {
        lines.push(...text.split('\n'))
        lines.splice(0, Math.max(0, lines.length - LINES_KEPT))
      })
      ended = new Promise((resolve) => {
        started.once('close', () => resolve())
      })
      await until(`nats-server is healthy on ${port}: ${lines.join('\n')}`, START_TIMEOUT_MS, () => {
        if (started.exitCode !== null) throw new Error(`nats-server ended:\n${lines.join('\n')}`)
        return isHealthy(env['NATS_MONITOR'] ?? '')
      })
    },
    kill: async () => {
      child?.kill('SIGKILL')
      await ended
    },
  }
}

/** As the deployment asks: in a cluster it says no until there is a leader. */
function isHealthy(monitor: string): Promise<boolean> {
  return new Promise((resolve) => {
    get(`http://${monitor}/healthz`, (reply) => {
      reply.resume()
      resolve(reply.statusCode === 200)
    }).once('error', () => resolve(false))
  })
}
