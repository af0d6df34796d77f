import type { Registry } from 'prom-client'
import type { Log } from '../../runtime/ports/log.ts'
import type { Transport } from '../../runtime/ports/transport.ts'
import type { Configuration } from '../config/configuration.ts'
import { countUnreadMessages } from '../metrics/transport-metrics.ts'
import { connectNats, type NatsLink } from '../nats/connection.ts'
import { createSealedBodies, createUnopenedLog, type MessageDirection } from '../nats/message-bodies.ts'
import { createNatsTransport } from '../nats/transport-nats.ts'

/** Each role receives replies under its own subject. */
export function openNatsLink(
  configuration: Configuration,
  role: 'node' | 'edge' | 'publisher',
  id: string,
  log: Log,
): Promise<NatsLink> {
  const { urls, credentialsFile, caFile, certFile, keyFile } = configuration.nats
  if (urls === undefined) throw new Error('LEDGER_NATS_URL is not set')
  const tls = {
    ...(caFile === undefined ? {} : { caFile }),
    ...(certFile === undefined ? {} : { certFile }),
    ...(keyFile === undefined ? {} : { keyFile }),
  }
  return connectNats({
    urls,
    ...(credentialsFile === undefined ? {} : { credentialsFile }),
    ...(Object.keys(tls).length === 0 ? {} : { tls }),
    name: `ledger ${role} ${id}`,
    inboxPrefix: `_INBOX_${role.toUpperCase()}`,
    log,
  })
}

export interface TransportOptions {
  readonly ledgerId: string
  /** 32 secret bytes, the same for all edges and nodes of the ledger. */
  readonly messageKey: Buffer
  readonly log: Log
  /** undefined: metrics are off. */
  readonly registry: Registry | undefined
}

export function openTransport(link: NatsLink, options: TransportOptions): Transport {
  const { ledgerId, messageKey, log, registry } = options
  const count = registry === undefined ? undefined : countUnreadMessages(registry)
  const logUnopened = createUnopenedLog(log)
  const onUnopened = (direction: MessageDirection): void => {
    count?.(direction)
    logUnopened(direction)
  }
  return createNatsTransport(link, log, { bodies: createSealedBodies(messageKey, ledgerId), onUnopened })
}

/** Replicated leases are stored in files, to survive a server. A single server keeps them in memory. */
export function leaseOptions(configuration: Configuration, ledgerId: string) {
  const { replicas } = configuration.nats
  return { ledgerId, replicas, storage: replicas > 1 ? ('file' as const) : ('memory' as const) }
}
