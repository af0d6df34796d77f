/**
 * Runs a whole ledger on one machine: PostgreSQL, nats-server, nodes, edges and the auditor, each in a process.
 *   U1. The start order follows the dependencies: PostgreSQL, schema, clients, NATS, nodes, edges, auditor. The stop order is
 *       the reverse: edges accept no request that no node could handle.
 *   U2. A start that fails or is stopped stops everything that it started.
 *   U3. A part that ends is restarted. If a server moves to another port, nodes and edges are restarted with its address.
 */
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { type Configuration, urlHost } from '../config/configuration.ts'
import { redactUrl } from '../config/redact-url.ts'
import type { EmbeddedServer } from '../embedded/server-process.ts'
import { findNatsServer, startNats } from '../embedded/nats-server.ts'
import { startPostgres } from '../embedded/postgres-server.ts'
import { makePrivateDirectory } from '../system/private-file.ts'
import { isRoot } from '../embedded/unprivileged-user.ts'
import { partKeyText } from '../keys/part-key.ts'
import type { KeyRing, Part } from '../keys/wrapping-keys.ts'
import { putStartClients, startClients, type StartClients } from './bootstrap-clients.ts'
import { childEnvironment } from './child-environment.ts'
import { lineHandler, serverLineHandler } from './child-lines.ts'
import { type ChildOptions, spawnChild } from './child-part.ts'
import { keepRunning, type KeptPart, type RunningPart } from './kept-part.ts'
import { takeLauncherLock } from './launcher-lock.ts'
import { createOrMigrate } from '../ledger/ledger-creation.ts'
import { openLedgerSecrets, openMasterKeys } from '../ledger/ledger-secrets.ts'
import { openLogFile } from './log-file.ts'
import { edgePort, refuseTakenMetricsPorts } from './ports-free.ts'

export interface SupervisorOptions {
  readonly configuration: Configuration
  readonly env: Readonly<Record<string, string | undefined>>
  readonly nodes: number
  readonly edges: number
  readonly postgresDir: string
  readonly natsDir: string
  readonly say: (text: string) => void
}

export interface RunningLedger {
  /** One per edge. */
  readonly addresses: readonly string[]
  readonly ledgerId: string
  readonly startClients: StartClients
}

/** `stop` or a signal ended the start. */
export class StartStopped extends Error {
  override readonly name = 'StartStopped'
}

const READY_TIMEOUT_MS = 120_000
const READY_POLL_MS = 100

export class Supervisor {
  private readonly options: SupervisorOptions
  /** In start order. The parts of a layer start and stop together. */
  private readonly layers: KeptPart<RunningPart>[][] = []
  private release: () => void = () => undefined
  private stopping = false
  private postgres: KeptPart<EmbeddedServer> | undefined
  private nats: KeptPart<EmbeddedServer> | undefined
  private readonly serverUrls = new Map<string, string>()
  private firstPort = 0
  private partKeyOf: (part: Part) => string = () => {
    throw new Error('the master key was not opened')
  }

  constructor(options: SupervisorOptions) {
    this.options = options
  }

  /** Resolves once requests can be served. Throws StartStopped if `stop` was called first. */
  async start(): Promise<RunningLedger> {
    const { configuration, nodes, edges, say } = this.options
    const { dataDir } = configuration
    makePrivateDirectory(dataDir)
    // PostgreSQL's user must be able to enter the directory. Each file in it is closed to other users.
    if (isRoot()) chmodSync(dataDir, 0o711)
    this.release = takeLauncherLock(dataDir)
    this.firstPort = await edgePort(configuration, edges, say)
    await refuseTakenMetricsPorts(configuration, this.firstPort, edges, nodes)
    const masterKeys = await openMasterKeys(configuration)
    this.partKeyOf = (part) => partKeyText(masterKeys, part)
    await this.step(() => this.startPostgres())
    const { ledgerId, clients } = await this.step(() => this.prepareDatabase(masterKeys))
    await this.step(() => this.startNats())
    await this.step(() => this.startChildren('node', nodes))
    await this.step(() => this.startChildren('edge', edges))
    await this.step(() => this.startChildren('auditor', 1))
    const addresses = Array.from({ length: edges }, (_, index) => this.addressOf(index))
    say('waiting until requests can be served ...')
    for (const address of addresses) await this.step(() => this.untilReady(address))
    return { addresses, ledgerId, startClients: clients }
  }

  /** Stops the parts in order, and kills a part that does not stop. Resolves when all have ended. */
  async stop(): Promise<void> {
    const { say } = this.options
    this.stopping = true
    for (const layer of this.layers.reverse()) {
      await Promise.all(
        layer.map(async (part) => {
          try {
            await part.stop()
            say(`${part.name}: stopped`)
          } catch (error) {
            say(`${part.name}: ${error instanceof Error ? error.message : String(error)}`)
            part.kill()
          }
        }),
      )
    }
    this.release()
  }

  /** Kills all parts at once. Acknowledged work is durable; the next start recovers the rest. */
  kill(): void {
    this.stopping = true
    for (const layer of this.layers) for (const part of layer) part.kill()
  }

  /** Ends a start at its next step. */
  cutShort(): void {
    this.stopping = true
  }

  private async step<T>(work: () => Promise<T>): Promise<T> {
    if (this.stopping) throw new StartStopped('stopped while starting')
    return work()
  }

  private async startPostgres(): Promise<void> {
    const { configuration, postgresDir, say } = this.options
    if (configuration.databaseUrl !== undefined) {
      say(`PostgreSQL: ${redactUrl(configuration.databaseUrl)}`)
      return
    }
    say('PostgreSQL: starting ...')
    const onLine = serverLineHandler('PostgreSQL', this.logFile('postgres'), say)
    this.postgres = await keepRunning({
      name: 'PostgreSQL',
      say,
      start: () => startPostgres({ dataDir: postgresDir, again: this.serverUrls.has('PostgreSQL'), log: onLine }),
      onRestarted: (server) => this.noteServer('PostgreSQL', server),
    })
    this.noteServer('PostgreSQL', this.postgres.current())
    this.layers.push([this.postgres])
    say(`PostgreSQL: runs on 127.0.0.1:${this.postgres.current().port}`)
  }

  private async startNats(): Promise<void> {
    const { configuration, natsDir, say } = this.options
    if (configuration.nats.urls !== undefined) {
      say(`NATS: ${configuration.nats.urls.map(redactUrl).join(', ')}`)
      return
    }
    const program = await findNatsServer(say)
    say('nats-server: starting ...')
    const onLine = serverLineHandler('nats-server', this.logFile('nats'), say)
    this.nats = await keepRunning({
      name: 'nats-server',
      say,
      start: () => startNats({ storeDir: natsDir, program, log: onLine }),
      onRestarted: (server) => this.noteServer('nats-server', server),
    })
    this.noteServer('nats-server', this.nats.current())
    this.layers.push([this.nats])
    say(`nats-server: runs on 127.0.0.1:${this.nats.current().port}`)
  }

  /**
   * Restarts nodes and edges if a server has moved to another port. They are killed, because a node without PostgreSQL
   * cannot release its shards in order.
   */
  private noteServer(name: string, server: EmbeddedServer): void {
    const before = this.serverUrls.get(name)
    this.serverUrls.set(name, server.url)
    if (before === undefined || before === server.url) return
    this.options.say(`${name}: runs on 127.0.0.1:${server.port} now: restarting nodes and edges`)
    for (const part of this.layers.flat()) {
      if (part !== this.postgres && part !== this.nats) part.restart()
    }
  }

  private async prepareDatabase(
    masterKeys: KeyRing,
  ): Promise<{ readonly ledgerId: string; readonly clients: StartClients }> {
    const { configuration, say } = this.options
    const url = this.databaseUrl()
    const ledger = await createOrMigrate(url, masterKeys, configuration, say)
    say(`ledger ${ledger.ledgerId}, ${ledger.shardCount} shards`)
    const clients = startClients(configuration)
    const secrets = openLedgerSecrets(masterKeys, ledger)
    const place = { url, ledgerId: ledger.ledgerId }
    const { revoked, unreadable } = await putStartClients(place, secrets, configuration, clients.clients)
    if (revoked.length > 0) say(`warning: revoked clients stay revoked: ${revoked.join(', ')}`)
    if (unreadable.length > 0) say(`warning: unreadable clients are not changed: ${unreadable.join(', ')}`)
    return { ledgerId: ledger.ledgerId, clients }
  }

  private async startChildren(command: ChildOptions['command'], count: number): Promise<void> {
    const { configuration, say } = this.options
    const layer: KeptPart<RunningPart>[] = []
    this.layers.push(layer)
    for (let index = 0; index < count; index += 1) {
      const name = `${command}-${index + 1}`
      const onLine = lineHandler(name, this.logFile(name), say)
      const start = (): Promise<RunningPart> => spawnChild({ command, ...this.environmentOf(command, index), onLine })
      const part = await keepRunning({ name, say, start })
      layer.push(part)
      say(`${name}: started (process ${part.current().pid})`)
      const metricsPort = this.metricsPortOf(command, index)
      if (metricsPort === undefined) continue
      say(`${name}: metrics on http://${urlHost(configuration.metrics?.host ?? '')}:${metricsPort}/metrics`)
    }
  }

  private databaseUrl(): string {
    const url = this.options.configuration.databaseUrl ?? this.postgres?.current().url
    if (url === undefined) throw new Error('PostgreSQL has not been started')
    return url
  }

  private natsUrls(): readonly string[] {
    const { urls } = this.options.configuration.nats
    const own = this.nats?.current().url
    return urls ?? (own === undefined ? [] : [own])
  }

  private addressOf(edge: number): string {
    return `http://${urlHost(this.options.configuration.host)}:${this.firstPort + edge}`
  }

  /** Edges have the first ports, then nodes, then the auditor. */
  private metricsPortOf(command: ChildOptions['command'], index: number): number | undefined {
    const { configuration, edges, nodes } = this.options
    if (configuration.metrics === undefined) return undefined
    const first = { edge: 0, node: edges, auditor: edges + nodes }
    return configuration.metrics.port + first[command] + index
  }

  private environmentOf(command: ChildOptions['command'], index: number): Pick<ChildOptions, 'env' | 'secrets'> {
    const { configuration, env } = this.options
    return childEnvironment(configuration, env, {
      command,
      number: index + 1,
      databaseUrl: this.databaseUrl(),
      natsUrls: this.natsUrls(),
      port: this.firstPort + (command === 'edge' ? index : 0),
      baseUrl: this.addressOf(0),
      metricsPort: this.metricsPortOf(command, index),
      partKey: this.partKeyOf(command),
    })
  }

  private async untilReady(address: string): Promise<void> {
    const deadline = performance.now() + READY_TIMEOUT_MS
    while (!(await isReady(address))) {
      if (this.stopping) throw new StartStopped('stopped while starting')
      if (performance.now() > deadline) {
        throw new Error(
          `${address}/readyz did not become ready: see ${join(this.options.configuration.dataDir, 'logs')}`,
        )
      }
      await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS))
    }
  }

  private logFile(name: string) {
    return openLogFile(join(this.options.configuration.dataDir, 'logs', `${name}.log`))
  }
}

async function isReady(address: string): Promise<boolean> {
  try {
    const response = await fetch(`${address}/readyz`, { signal: AbortSignal.timeout(2_000) })
    await response.body?.cancel()
    return response.status === 200
  } catch {
    return false
  }
}
