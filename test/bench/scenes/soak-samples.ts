/** A node's or an edge's own metrics, as operators read them. */
import { sampleOf } from '../../unit/metrics/samples.ts'

export interface WatchedProcess {
  readonly kind: 'edge' | 'node'
  readonly name: string
  /** From its metrics. */
  readonly url: string
}

export interface ProcessSample {
  readonly kind: WatchedProcess['kind']
  readonly name: string
  readonly residentBytes: number
  readonly heapBytes: number
  /** Buffers and the like. */
  readonly externalBytes: number
  /** Since the previous sample. */
  readonly eventLoopDelayP99Ms: number
  /** For a node; null for an edge. */
  readonly actors: ActorsSample | null
}

export interface ActorsSample {
  readonly inMemory: number
  /** Commands without a verdict at that time: their actors stay in memory. */
  readonly underWay: number
  readonly shards: number
}

/** Throws if it does not reply, or does not show the metric. */
export async function readProcessSample(watched: WatchedProcess): Promise<ProcessSample> {
  const response = await fetch(watched.url)
  if (!response.ok) throw new Error(`${watched.url}: ${response.status}`)
  return processSampleOf(watched, await response.text())
}

/** Parses Prometheus's text format. */
export function processSampleOf({ kind, name }: WatchedProcess, text: string): ProcessSample {
  const value = (metric: string, labels?: Readonly<Record<string, string>>): number => {
    const found = sampleOf(text, metric, labels)
    if (found === undefined) throw new Error(`${name} does not say ${metric}`)
    return found
  }
  return {
    kind,
    name,
    residentBytes: value('process_resident_memory_bytes'),
    heapBytes: value('nodejs_heap_size_used_bytes'),
    externalBytes: value('nodejs_external_memory_bytes'),
    eventLoopDelayP99Ms: value('nodejs_eventloop_lag_p99_seconds') * 1000,
    actors:
      kind === 'edge'
        ? null
        : {
            inMemory: value('ledger_actors_in_memory'),
            underWay: value('ledger_queue_depth', { queue: 'mailboxes' }),
            shards: value('ledger_shards_owned'),
          },
  }
}
