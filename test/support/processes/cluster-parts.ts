/**
 * A ledger whose parts a test starts and harms one by one: nats-servers, PostgreSQL, nodes and edges, each a process of
 * its own, with wires between them that can be severed. Nothing is started again by itself.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedServer } from '../../../infra/embedded/server-process.ts'
import { type PostgresOptions, startPostgres } from '../../../infra/embedded/postgres-server.ts'
import { type Credentials, send } from '../client/client.ts'
import { Closing } from '../closing.ts'
import { projectRoot, until } from './cluster-process.ts'
import { freePort, freePorts } from './free-ports.ts'
import { NATS_PASSWORD, NATS_USER, type NatsCluster, startNatsCluster } from '../nats/nats-cluster.ts'
import { type SeverableWire, startWire } from '../nats/severable-wire.ts'

export interface PartsOptions {
  readonly nodes: number
  readonly edges: number
  readonly shards: number
  /** 1 or 3. */
  readonly natsServers: number
  /** NATS without wires: the test carries so much else that it would hold messages up. */
  readonly natsDirectly?: boolean
  /** The program for nodes and edges, with its arguments before `node` and `edge`; by default the ledger itself. */
  readonly program?: Program
  /** For edges alone, in place of `program`. */
  readonly edgeProgram?: Program
  /** For every node and edge, beside what is always set. */
  readonly env?: Readonly<Record<string, string>>
  /** For the part of this name, each time that it starts. */
  readonly envOf?: (name: string) => Readonly<Record<string, string>>
  /** Left out: one login for all, at NATS and at PostgreSQL. */
  readonly access?: PartsAccess
  /** Each line that PostgreSQL logs. */
  readonly onDatabaseLine?: (line: string) => void
  /** Left out: one server, without a standby. */
  readonly startDatabase?: (options: DatabasePlace) => Promise<EmbeddedServer>
}

/** Where the parts look for PostgreSQL, however it is started. */
export type DatabasePlace = PostgresOptions & { readonly port: number }

/** Each role comes with credentials of its own. */
export interface PartsAccess {
  readonly startNats: () => Promise<NatsCluster>
  /** Makes the roles; `url` is the superuser's. Returns the database's. */
  readonly prepareDatabase: (url: string) => Promise<string>
  /** For a process that acts as the role. */
  readonly environmentOf: (role: PartRole) => Readonly<Record<string, string>>
}

/** A path, and its arguments. */
export type Program = readonly string[]

export type PartRole = 'owner' | 'node' | 'edge' | 'auditor'

export interface ClusterParts {
  readonly nats: NatsCluster
  /** Nodes and edges, dead ones too, by name. */
  readonly parts: ReadonlyMap<string, Part>
  readonly origins: readonly string[]
  readonly client: Credentials
  readonly databaseUrl: string
  /** `env`: in addition to that of all nodes. `program`: in place of the options'. */
  readonly startNode: (name: string, env?: Readonly<Record<string, string>>, program?: Program) => Promise<Part>
  readonly startEdge: (name: string, env?: Readonly<Record<string, string>>, program?: Program) => Promise<Part>
  readonly startAuditor: (name: string, env?: Readonly<Record<string, string>>) => Promise<Part>
  /** Runs `ledger` with these arguments, on the ledger's own database. Rejects with what it said when it fails. */
  readonly administer: (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<string>
  /** PostgreSQL is stopped (`SIGKILL`: at once) and started again on the same port and data. */
  readonly restartPostgres: (signal: 'SIGTERM' | 'SIGKILL') => Promise<void>
  /** Every part's wire leads to the PostgreSQL on this port from now on, and so does `administer`; what was connected is cut off. */
  readonly leadPostgresTo: (port: number) => void
  readonly close: () => Promise<void>
}

export interface Part {
  readonly name: string
  readonly pid: number
  readonly running: () => boolean
  readonly signal: (signal: NodeJS.Signals) => void
  readonly exited: Promise<void>
  /** None to NATS where the part was led there directly. */
  readonly wires: { readonly nats: readonly SeverableWire[]; readonly postgres: SeverableWire }
  readonly lastLines: () => string
}

const READY_TIMEOUT_MS = 180_000
/** A node that cannot go on says much while it ends: why it ends must not be pushed out. */
const KEPT_LINES = 10_000

export async function startParts(options: PartsOptions): Promise<ClusterParts> {
  const closing = new Closing()
  return closing.unlessStarted(async () => {
    const servers = await startServers(options, closing)
    const cluster = await startLedger(options, servers, closing)
    try {
      for (let number = 1; number <= options.nodes; number += 1) await cluster.startNode(`node-${number}`)
      for (let number = 1; number <= options.edges; number += 1) await cluster.startEdge(`edge-${number}`)
      await until('every edge is ready', READY_TIMEOUT_MS, () => areReady(cluster.origins))
    } catch (cause) {
      const said = [...cluster.parts.values()].map((part) => `${part.name}:\n${part.lastLines()}`).join('\n')
      throw new Error(`the parts did not start:\n${said}`, { cause })
    }
    return cluster
  })
}

interface Servers {
  readonly directory: string
  readonly nats: NatsCluster
  readonly databaseUrl: string
  readonly databasePort: number
  readonly restartPostgres: ClusterParts['restartPostgres']
}

async function startServers(options: PartsOptions, closing: Closing): Promise<Servers> {
  const { access } = options
  const directory = mkdtempSync(join(tmpdir(), 'ledger-parts-'))
  closing.add(() => rmSync(directory, { recursive: true, force: true }))
  const log = options.onDatabaseLine ?? (() => undefined)
  const place = { dataDir: join(directory, 'postgres'), port: await freePort(), log }
  let postgres: EmbeddedServer = await (options.startDatabase ?? startPostgres)(place)
  closing.add(() => postgres.stop())
  const databaseUrl = access === undefined ? postgres.url : await access.prepareDatabase(postgres.url)
  const nats = await (access === undefined ? startNatsCluster(options.natsServers) : access.startNats())
  closing.add(nats.close)
  return {
    directory,
    nats,
    databaseUrl,
    databasePort: place.port,
    restartPostgres: async (signal) => {
      if (signal === 'SIGKILL') postgres.kill()
      await postgres.stop()
      postgres = await startPostgres(place)
    },
  }
}

async function startLedger(options: PartsOptions, servers: Servers, closing: Closing): Promise<ClusterParts> {
  const { access } = options
  const { directory, nats, databaseUrl: url } = servers
  let portOfParts = servers.databasePort
  const common: Readonly<Record<string, string>> = {
    PATH: process.env['PATH'] ?? '',
    HOME: directory,
    LEDGER_DATA_DIR: directory,
    LEDGER_SHARDS: String(options.shards),
    LEDGER_MASTER_KEY: randomBytes(32).toString('base64url'),
    LEDGER_NATS_REPLICAS: String(options.natsServers),
    LEDGER_BASE_URL: 'http://127.0.0.1:8080',
    ...options.env,
  }
  const administering = { ...common, LEDGER_DATABASE_URL: url, ...access?.environmentOf('owner') }
  await runLedger(['migrate'], administering)
  const client = credentialsIn(await runLedger(['client', 'add', '--id', 'load', '--role', 'admin'], administering))
  const parts = new Map<string, Part>()
  const ledger: Program = [builtLedger()]
  const { program: usual = ledger } = options
  const start = async (
    command: 'node' | 'edge' | 'auditor',
    name: string,
    more: Readonly<Record<string, string>>,
    program: Program = usual,
  ) => {
    const wireTo = async (port: number): Promise<SeverableWire> => {
      const wire = await startWire({ host: '127.0.0.1', port })
      closing.add(() => wire.close())
      return wire
    }
    const wires = {
      postgres: await wireTo(portOfParts),
      nats: options.natsDirectly === true ? [] : await Promise.all(nats.servers.map(({ port }) => wireTo(port))),
    }
    const natsPorts = (options.natsDirectly === true ? nats.servers : wires.nats).map(({ port }) => port)
    const child = spawn(process.execPath, [...program, command], {
      env: {
        ...common,
        LEDGER_NODE_ID: name,
        ...addressesOf(command, url, { postgres: wires.postgres.port, nats: natsPorts }, access),
        ...access?.environmentOf(command),
        ...options.envOf?.(name),
        ...more,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const part = partOf(name, child, wires)
    parts.set(name, part)
    closing.add(async () => {
      part.signal('SIGKILL')
      await part.exited
    })
    return part
  }
  const edgePorts = await freePorts(options.edges)
  return {
    nats,
    parts,
    origins: edgePorts.map((edgePort) => `http://127.0.0.1:${edgePort}`),
    client,
    databaseUrl: url,
    startNode: (name, env = {}, program = usual) => start('node', name, env, program),
    startEdge: (name, env = {}, program = options.edgeProgram ?? usual) =>
      start('edge', name, { LEDGER_PORT: String(edgePorts[edgeNumber(name)] ?? 0), ...env }, program),
    startAuditor: (name, env = {}) => start('auditor', name, env, ledger),
    administer: (args, env = {}) => {
      const address = new URL(url)
      address.port = String(portOfParts)
      return runLedger(args, { ...administering, LEDGER_DATABASE_URL: address.toString(), ...env })
    },
    restartPostgres: servers.restartPostgres,
    leadPostgresTo: (other) => {
      portOfParts = other
      for (const part of parts.values()) part.wires.postgres.leadTo(other)
    },
    close: () => closing.close(),
  }
}

/** Of the servers, as this part reaches them. */
function addressesOf(
  command: string,
  databaseUrl: string,
  ports: { readonly postgres: number; readonly nats: readonly number[] },
  access: PartsAccess | undefined,
): Readonly<Record<string, string>> {
  const address = new URL(databaseUrl)
  address.port = String(ports.postgres)
  if (access !== undefined) address.username = `ledger_${command}`
  const server =
    access === undefined ? `nats://${NATS_USER}:${encodeURIComponent(NATS_PASSWORD)}@127.0.0.1` : 'tls://127.0.0.1'
  return {
    LEDGER_DATABASE_URL: address.toString(),
    LEDGER_NATS_URL: ports.nats.map((port) => `${server}:${port}`).join(','),
  }
}

/** `edge-1` is the first. */
function edgeNumber(name: string): number {
  return Number(name.slice('edge-'.length)) - 1
}

async function areReady(origins: readonly string[]): Promise<boolean> {
  const replies = await Promise.allSettled(origins.map((origin) => send(origin, { method: 'GET', path: '/readyz' })))
  return replies.every((reply) => reply.status === 'fulfilled' && reply.value.status === 200)
}

function partOf(name: string, child: ChildProcess, wires: Part['wires']): Part {
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      lines.push(...text.split('\n').filter((line) => line !== ''))
      lines.splice(0, Math.max(0, lines.length - KEPT_LINES))
    })
  }
  const exited = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
  })
  return {
    name,
    pid: child.pid ?? 0,
    running: () => child.exitCode === null && child.signalCode === null,
    signal: (signal) => void child.kill(signal),
    exited,
    wires,
    lastLines: () => lines.join('\n'),
  }
}

/** Builds what is not built yet; secrets go by the environment. Returns what it printed. */
async function runLedger(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const program = join(projectRoot(), 'infra', 'main', 'ledger.mjs')
  const child = spawn(process.execPath, [program, ...args], { env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text))
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', resolve)
  })
  if (code !== 0) throw new Error(`ledger ${args.join(' ')} ended with ${code}:\n${said.err}`)
  return said.out
}

function credentialsIn(printed: string): Credentials {
  const { client_id: clientId, client_secret: clientSecret } = JSON.parse(printed) as Record<string, string>
  if (clientId === undefined || clientSecret === undefined) throw new Error('no client was printed')
  return { clientId, clientSecret }
}

function builtLedger(): string {
  return join(projectRoot(), 'dist', 'infra', 'main', 'ledger.js')
}
