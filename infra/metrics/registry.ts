/**
 * The Prometheus metrics of one process. Names end with the unit, seconds or bytes.
 *   P1. No label names an account, a client, a token, a key or a shard: every label has a fixed, small set of values.
 *   P2. Gauges, such as queues and ages, are measured only when they are scraped.
 */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'

/** Includes the default metrics: CPU time, memory, open files, event loop delay, garbage collection. */
export function createRegistry(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return registry
}

export interface GaugeOptions<Reading> {
  readonly name: string
  readonly help: string
  readonly of: (reading: Reading) => number
}

/** Registers gauges that read their values from `measure`. undefined: unknown; the gauges then have no samples. */
export function registerGauges<Reading>(
  registry: Registry,
  measure: () => Reading | undefined | Promise<Reading | undefined>,
  gauges: readonly GaugeOptions<Reading>[],
): void {
  for (const { name, help, of } of gauges) {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        async collect() {
          const reading = await measure()
          if (reading === undefined) this.remove()
          else this.set(of(reading))
        },
      }),
    )
  }
}

export const MS_PER_SECOND = 1_000
