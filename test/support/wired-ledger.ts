/**
 * Nodes and the gateway of an edge in this process, on a real database and a real NATS server, put together as their
 * composition roots do it. Keeps all that they say: every message that passes the server, every line of their logs at the
 * level `debug`, every metric.
 */
import postgres from 'postgres'
import { type ActorAddress, actorKey } from '../../actors/address.ts'
import type { Caller } from '../../actors/account/commands.ts'
import type { Answer } from '../../actors/account/outcome.ts'
import { createAccountTag } from '../../infra/keys/account-tag.ts'
import { readPublicKey } from '../../infra/keys/public-key.ts'
import { createNodeSigner } from '../../infra/keys/signer-node.ts'
import type { LedgerSecrets } from '../../infra/ledger/ledger-secrets.ts'
import { openTransport } from '../../infra/processes/nats-link.ts'
import { createGatewayMetrics, registerGatewayGauges } from '../../infra/metrics/edge-metrics.ts'
import { createNodeMetrics, registerNodeGauges } from '../../infra/metrics/node-metrics.ts'
import { createRegistry } from '../../infra/metrics/registry.ts'
import type { NatsLink } from '../../infra/nats/connection.ts'
import { createNatsHints, createNatsLeaseStore } from '../../infra/nats/lease-store-nats.ts'
import { createPostgresLedgerStore } from '../../infra/postgres/store/ledger-store-postgres.ts'
import { createServiceKeys } from '../../infra/postgres/access/service-keys-postgres.ts'
import { createJsonLinesLog } from '../../infra/system/log-json-lines.ts'
import { createSystemClock } from '../../infra/system/clock-system.ts'
import { createSystemRandom } from '../../infra/system/random-system.ts'
import { Gateway, GATEWAY_DEFAULTS } from '../../runtime/edge/gateway.ts'
import type { Operation } from '../../runtime/protocol/messages.ts'
import { LedgerNode } from '../../runtime/node/ledger-node.ts'
import type { GatewayOutcome } from '../../runtime/edge/ledger-gateway.ts'
import type { Log } from '../../runtime/ports/log.ts'
import { NO_RARE_PATHS } from '../../runtime/ports/rare-paths.ts'
import { Routes } from '../../runtime/routing/routes.ts'
import { listShards } from '../../infra/postgres/store/ownership.ts'
import type { PartiesLedger } from './audited-ledger.ts'
import { Closing } from './closing.ts'
import { createLedgerDatabase, secretsOf } from './postgres/ledger-database.ts'
import { startTestNats } from './nats/nats.ts'
import { until } from './postgres/ledger-store-postgres.ts'

export interface WiredLedger extends PartiesLedger {
  readonly url: string
  readonly secrets: LedgerSecrets
  readonly asked: (actor: ActorAddress, operation: Operation) => Promise<GatewayOutcome>
  /** Subject, reply subject, headers and body of every message so far. */
  readonly traffic: readonly string[]
  readonly logLines: readonly string[]
  readonly metrics: () => Promise<string>
  /** Waits until all sent messages have arrived. */
  readonly settle: () => Promise<void>
  /** Sends over a link of its own, as an intruder in NATS would. */
  readonly inject: (subject: string, body: string) => void
  readonly close: () => Promise<void>
}

const CALLER: Caller = { clientId: 'tester', role: 'admin', boundary: true }
/** A node takes one a second of what another has. */
const SHARDS = 4

export async function startWiredLedger(): Promise<WiredLedger> {
  const closing = new Closing()
  return closing.unlessStarted(async () => {
    const database = await createLedgerDatabase({ shardCount: SHARDS })
    closing.add(database.drop)
    const nats = await startTestNats()
    closing.add(nats.close)
    const spy = await nats.connect('spy')
    const traffic = copyTraffic(spy)
    await spy.connection.flush()
    const sql = postgres(database.url, { max: 2, onnotice: () => undefined })
    closing.add(() => sql.end())
    const [row] = await sql<{ ledger_id: string }[]>`SELECT ledger_id FROM ledger`
    const logLines: string[] = []
    const parts: Parts = {
      url: database.url,
      ledgerId: row?.ledger_id ?? '',
      secrets: await secretsOf(database.url),
      registry: createRegistry(),
      log: (part) =>
        createJsonLinesLog({ level: 'debug', fields: { part }, write: (line) => void logLines.push(line) }),
      closing,
    }
    const nodeRegistries = [createRegistry(), createRegistry()]
    const nodes: LedgerNode[] = []
    for (const [index, registry] of nodeRegistries.entries()) {
      const link = await nats.connect(`node_${index}`)
      nodes.push(await startNode({ ...parts, registry }, `node-${index}`, link))
    }
    await until(() => nodes.every((node) => node.load().shards === SHARDS / nodes.length))
    const gateway = await startGateway(parts, sql, await nats.connect('edge'))
    const asked = (actor: ActorAddress, operation: Operation) =>
      gateway.ask({ actor, caller: CALLER, operation, trail: { requestId: 'request' } })
    return {
      url: database.url,
      secrets: parts.secrets,
      sql,
      asked,
      node: { ask: async (actor, operation) => answerOf(operation, await asked(actor, operation)) },
      traffic,
      logLines,
      metrics: async () =>
        (await Promise.all([parts.registry, ...nodeRegistries].map((registry) => registry.metrics()))).join('\n'),
      settle: () => spy.connection.flush(),
      inject: (subject, body) => spy.connection.publish(subject, body, { reply: '_INBOX_spy.none' }),
      close: () => closing.close(),
    }
  })
}

function answerOf(operation: Operation, outcome: GatewayOutcome): Answer {
  if (outcome.kind === 'answered' && outcome.answer.kind !== 'refused') return outcome.answer
  throw new Error(`${operation.kind}: ${JSON.stringify(outcome)}`)
}

interface Parts {
  readonly url: string
  readonly ledgerId: string
  readonly secrets: LedgerSecrets
  readonly registry: ReturnType<typeof createRegistry>
  readonly log: (part: string) => Log
  readonly closing: Closing
}

function copyTraffic(spy: NatsLink): readonly string[] {
  const traffic: string[] = []
  spy.connection.subscribe('>', {
    callback: (_error, { subject, reply = '', headers, data }) => {
      const body = Buffer.from(data).toString('latin1')
      traffic.push([subject, reply, headers === undefined ? '' : JSON.stringify([...headers]), body].join('\n'))
    },
  })
  return traffic
}

async function startNode(parts: Parts, nodeId: string, link: NatsLink): Promise<LedgerNode> {
  const { url, ledgerId, secrets, registry, closing } = parts
  const [clock, random, log] = [createSystemClock(), createSystemRandom(), parts.log(nodeId)]
  const session = random.hex(16)
  const { vault } = secrets
  const store = await createPostgresLedgerStore({ url, nodeId, session, ledgerId, log, vault })
  closing.add(store.close)
  const keys = await createServiceKeys({ url, seals: secrets.serviceKeys, clock, log })
  closing.add(keys.close)
  const node = new LedgerNode({
    nodeId,
    session,
    store,
    leases: createNatsLeaseStore(link, log, { ledgerId, replicas: 1, storage: 'memory' }),
    transport: openTransport(link, { ledgerId, messageKey: secrets.messageSecret, log, registry }),
    signer: createNodeSigner({ keys }),
    readPublicKey,
    clock,
    random,
    log,
    metrics: createNodeMetrics(registry),
    ledgerId,
    production: false,
    homeOf: (actor) => secrets.shardOf(actorKey(actor)),
    onStoreWentBack: () => undefined,
  })
  registerNodeGauges(registry, () => node.measures())
  closing.add(() => node.stop())
  await node.start()
  return node
}

async function startGateway(parts: Parts, sql: postgres.Sql, link: NatsLink): Promise<Gateway> {
  const { ledgerId, secrets, registry, closing } = parts
  const [clock, random, log] = [createSystemClock(), createSystemRandom(), parts.log('edge')]
  const routes = new Routes({
    store: { shards: () => listShards(sql) },
    leases: createNatsHints(link, log, ledgerId),
    clock,
    rare: NO_RARE_PATHS,
  })
  closing.add(() => routes.stop())
  await routes.start()
  const gateway = new Gateway({
    transport: openTransport(link, { ledgerId, messageKey: secrets.messageSecret, log, registry }),
    routes,
    clock,
    random,
    rare: NO_RARE_PATHS,
    homeOf: (actor) => secrets.shardOf(actorKey(actor)),
    settings: GATEWAY_DEFAULTS,
    log,
    accountTag: createAccountTag(secrets.derive('account-tags')),
    metrics: createGatewayMetrics(registry),
  })
  registerGatewayGauges(registry, () => gateway.measures())
  return gateway
}
