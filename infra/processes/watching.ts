/** Serves the metrics and the readiness of a process to operators. Without LEDGER_METRICS_PORT, metrics are off. */
import type { Registry } from 'prom-client'
import type { Readiness } from '../../api/http/dependencies.ts'
import { healthReply } from '../../api/routes/service/health.ts'
import { readyReply } from '../../api/routes/service/ready.ts'
import type { Log } from '../../runtime/ports/log.ts'
import type { Reply } from '../../api/http/reply.ts'
import type { Configuration } from '../config/configuration.ts'
import { registerCertificateGauge, registerDataDirGauges } from '../metrics/process-metrics.ts'
import { createRegistry } from '../metrics/registry.ts'
import { startWatchServer, type WatchReply } from '../metrics/watch-server.ts'
import type { ServiceProcess } from './service-process.ts'
import { watchedCertificates } from './watched-certificates.ts'

export interface Watching {
  /** undefined: metrics are off. */
  readonly registry: Registry | undefined
  /** Sets the readiness that /readyz shows. Until then /readyz says that the ledger was not found. */
  readonly serves: (ledgerId: string, readiness: () => Readiness | Promise<Readiness>) => void
}

/** Called first, so that operators see a process that cannot start. */
export async function startWatching(
  configuration: Configuration,
  log: Log,
  service: Pick<ServiceProcess, 'onStop'>,
): Promise<Watching> {
  const { metrics, environment, dataDir } = configuration
  if (metrics === undefined) return { registry: undefined, serves: () => undefined }
  const registry = createRegistry()
  registerDataDirGauges(registry, dataDir)
  registerCertificateGauge(registry, watchedCertificates(configuration), log)
  let ledgerId: string | null = null
  let readiness: () => Readiness | Promise<Readiness> = () => ({ ready: false, checks: { ledger: false } })
  const server = await startWatchServer(
    metrics.host,
    metrics.port,
    new Map<string, () => WatchReply | Promise<WatchReply>>([
      ['/metrics', async () => ({ status: 200, contentType: registry.contentType, body: await registry.metrics() })],
      ['/healthz', () => replyOf(healthReply())],
      ['/readyz', async () => replyOf(readyReply(await readiness(), environment, ledgerId))],
    ]),
  )
  service.onStop('metrics', server.stop)
  log.info('metrics_served', { host: metrics.host, port: server.port })
  return {
    registry,
    serves: (id, current) => {
      ledgerId = id
      readiness = current
    },
  }
}

function replyOf({ status, contentType, body }: Reply): WatchReply {
  return { status, contentType, body }
}
