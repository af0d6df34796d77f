/** Composition root of a shard node. */
import { actorKey } from '../../actors/address.ts'
import type { Log } from '../../runtime/ports/log.ts'
import {
  actorsPerShardOf,
  LedgerNode,
  type LedgerNodeDependencies,
  residentLimitsOf,
} from '../../runtime/node/ledger-node.ts'
import type { Configuration } from '../config/configuration.ts'
import { readPublicKey } from '../keys/public-key.ts'
import { createNodeSigner } from '../keys/signer-node.ts'
import { createNatsLeaseStore } from '../nats/lease-store-nats.ts'
import { openPositionMemory } from '../nats/position-memory-nats.ts'
import { createPostgresLedgerStore } from '../postgres/store/ledger-store-postgres.ts'
import { createServiceKeys } from '../postgres/access/service-keys-postgres.ts'
import { createSystemClock } from '../system/clock-system.ts'
import { createSystemRandom } from '../system/random-system.ts'
import { findLedger, refuseOtherProperties } from '../ledger/ledger-found.ts'
import { createKeyProgram } from '../keys/outside/key-program.ts'
import type { OutsideKeys } from '../keys/outside/outside-keys.ts'
import { openNodeSecrets, openPartKeys } from '../ledger/ledger-secrets.ts'
import { createNodeMetrics, registerNodeGauges } from '../metrics/node-metrics.ts'
import { openTracing } from '../tracing/open-tracing.ts'
import { leaseOptions, openNatsLink, openTransport } from './nats-link.ts'
import { nodeReadiness } from './readiness.ts'
import { runService, type ServiceProcess } from './service-process.ts'
import { startWatching } from './watching.ts'

/** Replacements for tests. */
export interface NodeParts extends Pick<LedgerNodeDependencies, 'wire'> {
  readonly over?: (dependencies: LedgerNodeDependencies) => LedgerNodeDependencies
}

export function runNode(
  configuration: Configuration,
  databaseUrl: string,
  log: Log,
  parts: NodeParts = {},
): Promise<number> {
  return runService(log, (service) => startNode({ configuration, url: databaseUrl, log, service, parts }))
}

interface NodeContext {
  readonly configuration: Configuration
  readonly url: string
  readonly log: Log
  readonly service: ServiceProcess
  readonly parts: NodeParts
}

async function startNode({ configuration, url, log, service, parts }: NodeContext): Promise<void> {
  const [clock, random] = [createSystemClock(), createSystemRandom()]
  const { actorsPerShard, accountRate } = configuration
  const nodeId = configuration.nodeId ?? `node-${random.hex(4)}`
  const session = random.hex(16)
  const watching = await startWatching(configuration, log, service)
  const { onStop } = service
  const tracing = await openTracing({ settings: configuration.tracing, part: 'node', instance: nodeId, log, onStop })
  const { registry } = watching
  const ring = await openPartKeys(configuration, 'node')
  const ledger = await findLedger(url, log, service.stopping)
  if (ledger === undefined) return
  refuseOtherProperties(ledger, configuration)
  // Refuses a wrong master key before the node acquires a shard.
  const secrets = openNodeSecrets(ring, ledger)
  const { ledgerId } = ledger
  const production = configuration.environment === 'production'
  const link = service.keep('nats', await openNatsLink(configuration, 'node', nodeId, log))
  void service.failOn(link.closed, 'the connection to NATS')
  const { replicas } = configuration.nats
  const positions = await openPositionMemory(link, log, { ledgerId, replicas }, service.stopping)
  if (positions === undefined) return
  service.onStop('position', positions.close)
  const store = await createPostgresLedgerStore({
    url,
    nodeId,
    session,
    ledgerId,
    log,
    vault: secrets.vault,
    production,
    onStopped: service.fail,
    positions,
  })
  service.onStop('store', store.close)
  // Records a last position, so that a restored older copy is detected even if it lacks only the latest commits.
  service.onStop('last probe', async () => {
    await store.probe().catch(() => undefined)
  })
  const outside = openOutsideKeys(configuration, log, service)
  const keys = service.keep('keys', await createServiceKeys({ url, seals: secrets.serviceKeys, clock, log, outside }))
  const node = createNode(parts, {
    nodeId,
    session,
    store,
    leases: createNatsLeaseStore(link, log, leaseOptions(configuration, ledgerId)),
    transport: openTransport(link, { ledgerId, messageKey: secrets.messageSecret, log, registry }),
    signer: createNodeSigner({ keys }),
    readPublicKey,
    clock,
    random,
    log,
    tracing,
    ...(registry === undefined ? {} : { metrics: createNodeMetrics(registry) }),
    ledgerId,
    production,
    settings: { ...residentLimitsOf(actorsPerShard ?? actorsPerShardOf(ledger.shardCount)), accountRate },
    homeOf: (actor) => secrets.shardOf(actorKey(actor)),
    onStoreWentBack: () => {
      const reason = 'PostgreSQL was rewound: its state is older than one seen before'
      void store.refuseServer().finally(() => service.fail(reason))
    },
  })
  const measures = () => node.measures()
  if (registry !== undefined) registerNodeGauges(registry, measures)
  const { stopping } = service
  watching.serves(ledgerId, () => nodeReadiness({ measures, connected: link.connected, stopping }))
  if (stopping()) return
  service.onStop('node', () => node.stop())
  await node.start()
  log.info('node_started', { node_id: nodeId, ledger_id: ledgerId, shards: ledger.shardCount })
}

/** undefined: there is no key program. It is started for the first signature. */
function openOutsideKeys({ keyCommand }: Configuration, log: Log, service: ServiceProcess): OutsideKeys | undefined {
  if (keyCommand === undefined) return undefined
  return service.keep('key program', createKeyProgram({ command: keyCommand, log }))
}

function createNode({ over = (own) => own, ...replaced }: NodeParts, own: LedgerNodeDependencies): LedgerNode {
  return new LedgerNode(over({ ...own, ...replaced }))
}
