/** What a node or an edge says of itself, where operators read it. */
import { sampleOf } from '../unit/metrics/samples.ts'

export interface WatchedProcess {
  readonly kind: 'edge' | 'node'
  readonly name: string
  /** Of its metrics. */
  readonly url: string
}

export interface ProcessSample {
  readonly kind: WatchedProcess['kind']
  readonly name: string
  readonly residentBytes: number
  readonly heapBytes: number
  /** Buffers and the like. */
  readonly externalBytes: number
  /** Since it was asked before. */
  readonly eventLoopDelayP99Ms: number
  /** Of a node; null: of an edge. */
  readonly actors: ActorsSample | null
}

export interface ActorsSample {
  readonly inMemory: number
  /** Commands that had no verdict then: what they are about stays in memory. */
  readonly underWay: number
  readonly shards: number
}

/** Throws when it does not answer, or does not say it. */
export async function readProcessSample(watched: WatchedProcess): Promise<ProcessSample> {
  const response = await fetch(watched.url)
  if (!response.ok) throw new Error(`${watched.url}: ${response.status}`)
  return processSampleOf(watched, await response.text())
}

/** Of Prometheus's text format. */
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
