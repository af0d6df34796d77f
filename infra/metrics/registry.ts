/**
 * What Prometheus reads of one process. Units are Prometheus's own, seconds and bytes, and stand in the names.
 *   P1. No label names an account, a client, a token, a key or a shard; every label has a fixed, small set of values.
 *   P2. What has a value at any time (queues, ages) is read when it is asked for, and costs nothing else.
 */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'

/** With what every process has: processor time, memory, open files, event loop delay, garbage collection. */
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

/** Gauges that are read together, by one look. */
export function registerGauges<Reading>(
  registry: Registry,
  look: () => Reading,
  gauges: readonly GaugeOptions<Reading>[],
): void {
  for (const { name, help, of } of gauges) {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          this.set(of(look()))
        },
      }),
    )
  }
}

export const MS_PER_SECOND = 1_000
