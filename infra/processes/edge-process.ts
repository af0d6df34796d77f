/** Composition root of an edge. */
import { type ActorAddress, actorKey } from '../../actors/address.ts'
import type { EdgeDependencies } from '../../api/http/dependencies.ts'
import { createEdge } from '../../api/edge.ts'
import { createUnmigratedEdge } from '../../api/unmigrated-edge.ts'
import { Gateway, GATEWAY_DEFAULTS, type GatewayDependencies } from '../../runtime/edge/gateway.ts'
import { Routes } from '../../runtime/routing/routes.ts'
import type { AccessStore } from '../../runtime/ports/access-store.ts'
import { LedgerStoreUnavailable, type LedgerStore } from '../../runtime/ports/ledger-store.ts'
import type { Log } from '../../runtime/ports/log.ts'
import type { Tracing } from '../../runtime/ports/tracing.ts'
import type { Transport } from '../../runtime/ports/transport.ts'
import type { PostgresLiabilities } from '../liabilities/liabilities-postgres.ts'
import type { Configuration } from '../config/configuration.ts'
import { type AccountTag, createAccountTag } from '../keys/account-tag.ts'
import { createClientSecrets } from '../keys/client-secrets.ts'
import { networkOf } from '../keys/network.ts'
import { jwkOf, readPublicKey } from '../keys/public-key.ts'
import { isSignature } from '../keys/signature-encoding.ts'
import { createNodeSigner } from '../keys/signer-node.ts'
import { type KeyRing, readingRing } from '../keys/wrapping-keys.ts'
import type { NatsLink } from '../nats/connection.ts'
import { createNatsHints } from '../nats/lease-store-nats.ts'
import { createLedgerExports } from '../portability/export-postgres.ts'
import { createLedgerImports } from '../portability/import-intake.ts'
import { createAccessStore } from '../postgres/access/access-store-postgres.ts'
import { createAdministrativeChain } from '../postgres/access/administrative-chain-postgres.ts'
import { createAttestationStore } from '../postgres/access/attestation-store-postgres.ts'
import { createIdempotencyStore } from '../postgres/access/idempotency-store-postgres.ts'
import { createLedgerEvents } from '../postgres/reads/ledger-events-postgres.ts'
import { createLedgerReads } from '../postgres/reads/ledger-reads-postgres.ts'
import type { LedgerRecord } from '../postgres/migrations/migrate.ts'
import { IN_RECOVERY, readServer, refusalOf } from '../postgres/connection/accepted-servers.ts'
import { countShards, listShards, type ShardCounts } from '../postgres/store/ownership.ts'
import { readNowMs } from '../postgres/store/sessions.ts'
import { createQueryPool } from '../postgres/connection/query-pool.ts'
import { createServiceKeys, type PostgresServiceKeys } from '../postgres/access/service-keys-postgres.ts'
import { createShardHealth } from '../postgres/reads/shard-health-postgres.ts'
import { createIsolatedSchemaValidator } from '../schema/schema-validator-isolated.ts'
import { createClientAddress } from '../system/client-address.ts'
import { createSystemClock } from '../system/clock-system.ts'
import { createSystemRandom } from '../system/random-system.ts'
import {
  createEventMetrics,
  createGatewayMetrics,
  createHttpMetrics,
  registerGatewayGauges,
  registerShardGauges,
} from '../metrics/edge-metrics.ts'
import { createSwitchableApp, type EdgeApp } from './edge-app.ts'
import { createEdgeReadiness, createSharedReading } from './readiness.ts'
import { type EdgeClock, followEdgeClock } from './edge-clock.ts'
import { openAssertions } from './edge-assertions.ts'
import { openClientLimits } from './edge-limits.ts'
import { openLog } from './edge-log.ts'
import { openWebhooks, type Webhooks } from './edge-webhooks.ts'
import { type HttpServer, listen } from './http-server.ts'
import { findLedger, refuseOtherProperties } from '../ledger/ledger-found.ts'
import { type LedgerSecrets, openLedgerSecrets, openPartKeys } from '../ledger/ledger-secrets.ts'
import { openNatsLink, openTransport } from './nats-link.ts'
import { runService, type ServiceProcess } from './service-process.ts'
import { openTracing } from '../tracing/open-tracing.ts'
import { openTrustedLedgers } from '../ledger/trusted-ledgers-file.ts'
import { startWatching, type Watching } from './watching.ts'
import { NO_RARE_PATHS } from '../../runtime/ports/rare-paths.ts'

const SHARDS_TIMEOUT_MS = 2_000
/** Public keys of attesters. */
const CACHED_KEYS = 1_000

interface EdgeContext {
  readonly configuration: Configuration
  readonly url: string
  readonly log: Log
  readonly service: ServiceProcess
  readonly clock: ReturnType<typeof createSystemClock>
  readonly random: ReturnType<typeof createSystemRandom>
  readonly parts: EdgeParts
}

/** Replacements for tests. */
export type EdgeParts = Partial<Pick<GatewayDependencies, 'wire' | 'settings'>>

export function runEdge(
  configuration: Configuration,
  databaseUrl: string,
  log: Log,
  parts: EdgeParts = {},
): Promise<number> {
  const clock = createSystemClock()
  const random = createSystemRandom()
  return runService(log, (service) =>
    startEdge({ configuration, url: databaseUrl, log, service, clock, random, parts }),
  )
}

async function startEdge(context: EdgeContext): Promise<void> {
  const { configuration, url, log, service } = context
  const { host, port, errorBase } = configuration
  const watching = await startWatching(configuration, log, service)
  const nodeId = configuration.nodeId ?? `edge-${port}`
  const { onStop } = service
  const tracing = await openTracing({ settings: configuration.tracing, part: 'edge', instance: nodeId, log, onStop })
  const ring = await openPartKeys(configuration, 'edge')
  const app = createSwitchableApp()
  let server: HttpServer | undefined
  const ledger = await findLedger(url, log, service.stopping, async () => {
    // Before the ledger has been created, requests get a reply that says so.
    app.use(unmigratedApp(context))
    server = await listen(app, host, port, errorBase)
    service.onStop('http', server.stop)
  })
  if (ledger === undefined) return
  refuseOtherProperties(ledger, configuration)
  const secrets = openLedgerSecrets(ring, ledger)
  const link = service.keep('nats', await openNatsLink(configuration, 'edge', nodeId, log))
  void service.failOn(link.closed, 'the connection to NATS')
  const store = openShards(url, service)
  // Before the first read, and repeatedly: a promoted standby may lack changes that clients saw confirmed.
  await store.refuseUnaccepted().catch(() => undefined)
  const edgeClock = await followEdgeClock(context.clock, store.nowMs, log)
  service.onStop('clock', edgeClock.stop)
  const followed = { ...context, store, edgeClock, clock: edgeClock.clock, tracing }
  const edge = await createApp(followed, ledger, { ...secrets, readingKeys: readingRing(ring) }, link, watching)
  app.use(edge.app)
  server ??= await listen(app, host, port, errorBase)
  // Registered last, so stopped first: requests in progress need everything else.
  service.onStop('http', server.stop)
  // Begins to stop beside the requests: each may take ten seconds.
  service.onStop('webhooks', () => void edge.stopDeliveries().catch(() => undefined))
  log.info('edge_started', { ledger_id: ledger.ledgerId, host, port })
}

/** The context after the ledger has been found; `clock` shows the ledger's time. */
interface FollowedContext extends EdgeContext {
  readonly store: Shards
  readonly edgeClock: EdgeClock
  readonly tracing: Tracing | undefined
}

interface EdgeSecrets extends LedgerSecrets {
  /** Keys for threads that decrypt rows: key objects of the vault cannot be sent to a thread. */
  readonly readingKeys: KeyRing
}

function unmigratedApp({ configuration, random, log }: EdgeContext): EdgeApp {
  const { corsOrigins, environment, errorBase, pages } = configuration
  return createUnmigratedEdge({
    random,
    log,
    readiness: () => Promise.resolve({ ready: false, checks: { ledger: false } }),
    settings: { corsOrigins, environment, errorBase, pages },
  })
}

const READERS = { networkOf, readPublicKey, isSignature, jwkOf }

async function createApp(
  context: FollowedContext,
  ledger: LedgerRecord,
  secrets: EdgeSecrets,
  link: NatsLink,
  watching: Watching,
): Promise<{ readonly app: EdgeApp } & Pick<Webhooks, 'stopDeliveries'>> {
  const { configuration, url, log, service, clock, random } = context
  const { baseUrl, corsOrigins, environment, errorBase, pages, accessTokenTtlMs, refreshTokenTtlMs } = configuration
  const { ledgerId } = ledger
  const { shardOf, vault, derive } = secrets
  const homeOf = (address: ActorAddress): number => shardOf(actorKey(address))
  const serviceKeys = service.keep('keys', await createServiceKeys({ url, seals: secrets.serviceKeys, clock, log }))
  const access = openAccess(context, secrets)
  const holder = `${configuration.nodeId ?? 'edge'} ${random.hex(8)}`
  const { stopDeliveries, ...webhooks } = openWebhooks({ ...context, ledgerId, holder, vault, access, watching })
  const ledgerLog = await openLog({ ...context, ledgerId, holder, vault, shardOf, derive, watching })
  const stores = openStores(context, ledgerId, secrets, homeOf)
  const schemas = service.keep('schemas', createIsolatedSchemaValidator({ log }))
  const { registry } = watching
  const transport = openTransport(link, { ledgerId, messageKey: secrets.messageSecret, log, registry })
  const { warnings, ...assertions } = openAssertions(context, ledgerId, secrets)
  const { gateway, readiness } = await openGateway(context, {
    ledgerId,
    homeOf,
    link,
    transport,
    accountTag: createAccountTag(derive('account-tags')),
    watching,
    warnings,
  })
  const portability = await openPortability(context, ledgerId, secrets, {
    serviceKeys,
    gateway,
    attestations: stores.attestations,
  })
  const app = createEdge({
    gateway,
    ...stores,
    ledgerLog,
    assertions,
    ...webhooks,
    ...portability,
    schemas,
    access,
    clientLimits: openClientLimits(context, { ledgerId, link, messageKey: secrets.messageSecret, registry }),
    serviceKeys,
    signatures: createNodeSigner({ keys: serviceKeys, cachedKeys: CACHED_KEYS }),
    clock,
    clockTrusted: context.edgeClock.isTrusted,
    random,
    log,
    metrics: registry === undefined ? undefined : createHttpMetrics(registry),
    eventMetrics: registry === undefined ? undefined : createEventMetrics(registry),
    tracing: context.tracing,
    secrets: createClientSecrets({ pepper: derive('client-secrets') }),
    clientAddress: createClientAddress(configuration.trustedProxies),
    ...READERS,
    pageTokenKey: derive('page-tokens'),
    refreshTokenKey: derive('refresh-tokens'),
    settings: { baseUrl, corsOrigins, errorBase, environment, pages, ledgerId, accessTokenTtlMs, refreshTokenTtlMs },
    readiness,
  })
  return { app, stopDeliveries }
}

function openAccess({ url, log, service, clock }: EdgeContext, { vault }: EdgeSecrets): AccessStore {
  const access = createAccessStore({
    url,
    vault,
    now: clock.now,
    onCleanUpFailed: () => log.warn('clean_up_failed'),
    onUnreadable: (clientId) => log.error('client_unreadable', { client_id: clientId }),
  })
  return service.keep('access', access)
}

/** Exports to and imports from other ledgers. */
async function openPortability(
  { configuration, url, log, service, clock }: EdgeContext,
  ledgerId: string,
  { shardOf, vault, derive }: EdgeSecrets,
  {
    serviceKeys,
    gateway,
    attestations,
  }: Pick<EdgeDependencies, 'gateway' | 'attestations'> & { readonly serviceKeys: PostgresServiceKeys },
): Promise<Pick<EdgeDependencies, 'exports' | 'imports'>> {
  const exports = createLedgerExports({
    url,
    ledgerId,
    shardOf,
    vault,
    saltKey: derive('export-key-salts'),
    logKey: derive('log-entries'),
    serviceKeys,
    gateway,
    clock,
    log,
  })
  service.onStop('exports', exports.close)
  const imports = createLedgerImports({
    url,
    ledgerId,
    vault,
    trusted: await openTrustedLedgers(configuration),
    keys: serviceKeys.imports,
    serviceKeys,
    gateway,
    attestations,
    clock,
    log,
  })
  service.onStop('imports', imports.close)
  imports.start()
  return { exports, imports }
}

interface GatewayContext {
  readonly ledgerId: string
  readonly homeOf: (address: ActorAddress) => number
  readonly link: NatsLink
  readonly transport: Transport
  readonly accountTag: AccountTag
  readonly watching: Watching
  readonly warnings: PostgresLiabilities['warnings']
}

async function openGateway(
  { store, log, service, clock, edgeClock, random, parts }: FollowedContext,
  { ledgerId, homeOf, link, transport, accountTag, watching, warnings }: GatewayContext,
): Promise<{ readonly gateway: Gateway; readonly readiness: EdgeDependencies['readiness'] }> {
  const routes = new Routes({
    store,
    leases: createNatsHints(link, log, ledgerId),
    clock,
    rare: NO_RARE_PATHS,
  })
  service.onStop('routes', () => routes.stop())
  await routes.start()
  const { registry } = watching
  const gateway = new Gateway({
    transport,
    routes,
    clock,
    random,
    rare: NO_RARE_PATHS,
    homeOf,
    settings: GATEWAY_DEFAULTS,
    ...parts,
    log,
    accountTag,
    ...(registry === undefined ? {} : { metrics: createGatewayMetrics(registry) }),
  })
  if (registry !== undefined) {
    registerGatewayGauges(registry, () => gateway.measures())
    registerShardGauges(registry, createSharedReading(clock, store.count))
  }
  const readiness = createEdgeReadiness(clock, {
    anyShardServed: async () => (await store.count()).served > 0,
    connected: link.connected,
    routed: () => routes.state() === 'served',
    clockTrusted: edgeClock.isTrusted,
    stopping: service.stopping,
    warnings,
  })
  watching.serves(ledgerId, readiness)
  return { gateway, readiness }
}

interface Shards extends Pick<LedgerStore, 'shards'> {
  readonly count: () => Promise<ShardCounts>
  /** Ends the process if the ledger may not run on the server. Rejects if the server is unavailable or in recovery. */
  readonly refuseUnaccepted: () => Promise<void>
  /** PostgreSQL's time, milliseconds since 1970. Checks the server first, as `refuseUnaccepted` does. */
  readonly nowMs: () => Promise<number>
}

function openShards(url: string, service: ServiceProcess): Shards {
  const pool = createQueryPool({
    url,
    name: 'ledger routes',
    size: 1,
    statementTimeoutMs: SHARDS_TIMEOUT_MS,
    unavailable: (message, cause) => new LedgerStoreUnavailable(message, cause),
  })
  service.onStop('shards', pool.close)
  const refuseUnaccepted = async (): Promise<void> => {
    const server = await pool.run(readServer)
    // During a failover the address may point to a standby for a while, so this does not end the process.
    if (server.recovering) throw new LedgerStoreUnavailable(IN_RECOVERY)
    const refused = refusalOf(server)
    if (refused !== undefined) service.fail(refused)
  }
  return {
    shards: () => pool.run(listShards),
    count: () => pool.run(countShards),
    refuseUnaccepted,
    nowMs: async () => {
      await refuseUnaccepted()
      return pool.run(readNowMs)
    },
  }
}

/** The stores that the edge reads without a node. */
function openStores(
  { url, log, service }: FollowedContext,
  ledgerId: string,
  { shardOf, vault }: EdgeSecrets,
  homeOf: (address: ActorAddress) => number,
) {
  const onCleanUpFailed = (): void => log.warn('clean_up_failed')
  return {
    reads: service.keep('reads', createLedgerReads({ url, ledgerId, shardOf, homeOf, vault })),
    events: service.keep('events', createLedgerEvents({ url, ledgerId, vault })),
    shardHealth: service.keep('shard health', createShardHealth({ url })),
    administrativeChain: service.keep('administrative chain', createAdministrativeChain({ url, ledgerId, vault })),
    attestations: service.keep('attestations', createAttestationStore({ url, homeOf, vault })),
    idempotency: service.keep('idempotent requests', createIdempotencyStore({ url, vault, onCleanUpFailed })),
  }
}
