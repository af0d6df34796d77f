/**
 * How a process is watched: its metrics, and whether it is ready, on a port for operators. Without LEDGER_METRICS_PORT
 * nothing listens and nothing is counted.
 */
import type { Registry } from 'prom-client'
import type { Readiness } from '../../api/http/dependencies.ts'
import { healthReply } from '../../api/routes/service/health.ts'
import { readyReply } from '../../api/routes/service/ready.ts'
import type { Log } from '../../runtime/ports/log.ts'
import type { Reply } from '../../api/http/reply.ts'
import type { Configuration } from '../config/configuration.ts'
import { createRegistry } from '../metrics/registry.ts'
import { startWatchServer, type WatchAnswer } from '../metrics/watch-server.ts'
import type { ServiceProcess } from './service-process.ts'

export interface Watching {
  /** undefined: nobody looks. */
  readonly registry: Registry | undefined
  /** From now on /readyz says this; before, that the ledger was not found yet. */
  readonly serves: (ledgerId: string, readiness: () => Readiness | Promise<Readiness>) => void
}

/** Listens before anything else is tried, so that a process that cannot start says so. */
export async function startWatching(
  { metrics, environment }: Configuration,
  log: Log,
  service: Pick<ServiceProcess, 'onStop'>,
): Promise<Watching> {
  if (metrics === undefined) return { registry: undefined, serves: () => undefined }
  const registry = createRegistry()
  let ledgerId: string | null = null
  let readiness: () => Readiness | Promise<Readiness> = () => ({ ready: false, checks: { ledger: false } })
  const server = await startWatchServer(
    metrics.host,
    metrics.port,
    new Map<string, () => WatchAnswer | Promise<WatchAnswer>>([
      ['/metrics', async () => ({ status: 200, contentType: registry.contentType, body: await registry.metrics() })],
      ['/healthz', () => answerOf(healthReply())],
      ['/readyz', async () => answerOf(readyReply(await readiness(), environment, ledgerId))],
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

function answerOf({ status, contentType, body }: Reply): WatchAnswer {
  return { status, contentType, body }
}
