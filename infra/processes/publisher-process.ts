/** Composition root of a publisher of events. It has the keys of the auditor, which open rows and sign nothing. */
import { hkdfSync } from 'node:crypto'
import { createPageTokens } from '../../api/http/page-token.ts'
import type { Log } from '../../runtime/ports/log.ts'
import type { Configuration } from '../config/configuration.ts'
import type { PublicKey } from '../keys/public-key.ts'
import { findLedger, refuseOtherProperties } from '../ledger/ledger-found.ts'
import { existingPartKeys, openVault } from '../ledger/ledger-secrets.ts'
import { connect } from '../postgres/connection/connection.ts'
import { createLedgerEvents } from '../postgres/reads/ledger-events-postgres.ts'
import { EventPublisher } from '../publisher/event-publisher.ts'
import { createEventStream, StreamUnusable } from '../publisher/event-stream-nats.ts'
import { createSystemClock } from '../system/clock-system.ts'
import { LEDGER_KEY_NAME } from '../vault/key-name.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { describeError } from './error-description.ts'
import { openNatsLink } from './nats-link.ts'
import { runService, type ServiceProcess } from './service-process.ts'

const POSITION_KEY_BYTES = 32

export interface Publication {
  /** Of the subjects. */
  readonly prefix: string
  readonly recipient: PublicKey
  /** E2 of event-publisher.ts. */
  readonly restart: boolean
}

export function runPublisher(
  configuration: Configuration,
  databaseUrl: string,
  log: Log,
  publication: Publication,
): Promise<number> {
  return runService(log, (service) => startPublisher({ configuration, url: databaseUrl, log, service }, publication))
}

interface PublisherContext {
  readonly configuration: Configuration
  readonly url: string
  readonly log: Log
  readonly service: ServiceProcess
}

async function startPublisher(
  { configuration, url, log, service }: PublisherContext,
  { prefix, recipient, restart }: Publication,
): Promise<void> {
  const ring = await existingPartKeys(configuration, 'auditor')
  const ledger = await findLedger(url, log, service.stopping)
  if (ledger === undefined) return
  refuseOtherProperties(ledger, configuration)
  const { ledgerId } = ledger
  const vault = openVault(ring, ledger)
  const tokens = createPageTokens(await positionKey(url, vault))
  const link = service.keep('nats', await openNatsLink(configuration, 'publisher', prefix, log))
  void service.failOn(link.closed, 'the connection to NATS')
  const events = service.keep('events', createLedgerEvents({ url, ledgerId, vault, poolSize: 1 }))
  const stream = createEventStream(link, { prefix, replicas: configuration.nats.replicas, tokens })
  const clock = createSystemClock()
  const publisher = new EventPublisher({ events, stream, ledgerId, prefix, recipient, restart, clock, log })
  service.onStop('publisher', () => publisher.stop())
  log.info('publisher_started', { ledger_id: ledgerId, subject: prefix, key_id: recipient.keyId })
  publisher
    .run()
    .catch((error: unknown) => service.fail(error instanceof StreamUnusable ? error.message : describeError(error)))
}

/** Derives the key of positions in the stream from the data key of the ledger, which survives a new master key. */
async function positionKey(url: string, vault: RowVault): Promise<Uint8Array> {
  const connection = await connect({ url, applicationName: 'ledger events publish' })
  try {
    await vault.keys.fetch(connection.sql, [LEDGER_KEY_NAME])
  } finally {
    await connection.end()
  }
  const key = vault.keys.known(LEDGER_KEY_NAME)
  if (key === undefined) throw new Error('the data key of the ledger is missing or damaged')
  return new Uint8Array(hkdfSync('sha256', key, '', 'ledger/publisher-positions/1', POSITION_KEY_BYTES))
}
