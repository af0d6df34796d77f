/** The rate limits of clients at an edge, over all edges together. */
import type { Registry } from 'prom-client'
import { type ClientLimits, createClientLimits } from '../../runtime/edge/client-limits.ts'
import type { Clock } from '../../runtime/ports/clock.ts'
import type { Log } from '../../runtime/ports/log.ts'
import type { Random } from '../../runtime/ports/random.ts'
import type { Configuration } from '../config/configuration.ts'
import { createLimitMetrics } from '../metrics/edge-metrics.ts'
import type { NatsLink } from '../nats/connection.ts'
import { createSealedBodies } from '../nats/message-bodies.ts'
import { createNatsUsageExchange } from '../nats/usage-exchange-nats.ts'
import type { ServiceProcess } from './service-process.ts'

interface LimitsContext {
  readonly configuration: Configuration
  readonly clock: Clock
  readonly log: Log
  readonly random: Random
  readonly service: ServiceProcess
}

interface LimitsLink {
  readonly ledgerId: string
  readonly link: NatsLink
  /** As of `openTransport`. */
  readonly messageKey: Buffer
  readonly registry: Registry | undefined
}

export function openClientLimits(
  { configuration, clock, log, random, service }: LimitsContext,
  { ledgerId, link, messageKey, registry }: LimitsLink,
): ClientLimits {
  const bodies = createSealedBodies(messageKey, ledgerId)
  const exchange = service.keep('usage', createNatsUsageExchange(link, { bodies, edge: random.hex(8), log }))
  const metrics = registry === undefined ? undefined : createLimitMetrics(registry)
  return createClientLimits({ clock, log, exchange, defaultRate: configuration.clientRate ?? null, metrics })
}
