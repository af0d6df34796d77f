import type { Log } from '../../runtime/ports/log.ts'
import type { Configuration } from '../config/configuration.ts'
import { connectNats, type NatsLink } from '../nats/connection.ts'

/** `role`: its replies come under a subject of its own. */
export function openNatsLink(
  configuration: Configuration,
  role: 'node' | 'edge',
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

/** Several copies survive a server in files; a single server keeps leases, which nothing depends on, in memory. */
export function leaseOptions(configuration: Configuration, ledgerId: string) {
  const { replicas } = configuration.nats
  return { ledgerId, replicas, storage: replicas > 1 ? ('file' as const) : ('memory' as const) }
}
