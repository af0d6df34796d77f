/**
 * A JetStream key-value bucket of one ledger.
 *   B1. Reads go through the stream's leader (`allow_direct` off): a direct read of a cluster may be stale.
 *   B3. If the bucket is missing because the server lost its store, it is created again, empty.
 */
import { NatsError, StorageType, type JetStreamManager, type KV, type KvEntry } from 'nats'
import { LeaseStoreUnavailable } from '../../runtime/ports/lease-store.ts'
import { reasonOf } from '../../runtime/common/reason.ts'
import type { NatsLink } from './connection.ts'

export interface BucketOptions {
  /** Separates ledgers that share a NATS server. */
  readonly ledgerId: string
  /** Copies of each bucket; 3 in a cluster. */
  readonly replicas: number
  /** The data need not survive: memory suffices on one server. In a cluster, files avoid a rebuild. */
  readonly storage: 'memory' | 'file'
}

const CALL_TIMEOUT_MS = 1000
const STREAM_NOT_FOUND = 10059

export interface Bucket {
  /** Runs `call`, and again if the bucket was missing (B3). Rejects only with `LeaseStoreUnavailable`. */
  readonly use: <T>(call: (kv: KV) => Promise<T>) => Promise<T>
  /** A snapshot of the keys, including ended sessions. Call it inside `use`. */
  readonly keys: () => Promise<readonly string[]>
  readonly subjectPrefix: string
}

export function createBucket(link: NatsLink, name: string, options: BucketOptions, ttlMs: number): Bucket {
  const jetstream = link.connection.jetstream({ timeout: CALL_TIMEOUT_MS, checkAPI: false })
  const streamName = `KV_${name}`
  const subjectPrefix = subjectPrefixOf(name)
  let manager: JetStreamManager | undefined
  let opened: KV | undefined

  const open = async (): Promise<KV> => {
    opened ??= await jetstream.views.kv(name, {
      replicas: options.replicas,
      storage: options.storage === 'memory' ? StorageType.Memory : StorageType.File,
      history: 1,
      allow_direct: false,
      ...(ttlMs > 0 ? { ttl: ttlMs } : {}),
    })
    return opened
  }
  const attempt = async <T>(call: (kv: KV) => Promise<T>): Promise<T> => {
    if (!link.connected()) throw new Error('not connected')
    return call(await open())
  }
  const use = async <T>(call: (kv: KV) => Promise<T>): Promise<T> => {
    try {
      try {
        return await attempt(call)
      } catch (error) {
        // A repeat is safe: without its stream, nothing was written.
        if (!isStreamLost(error)) throw error
        opened = undefined
        return await attempt(call)
      }
    } catch (cause) {
      opened = undefined
      throw new LeaseStoreUnavailable(`lease store: ${causeOf(cause)}`, { cause })
    }
  }
  const keys = async (): Promise<readonly string[]> => {
    manager ??= await jetstream.jetstreamManager(false)
    const { state } = await manager.streams.info(streamName, { subjects_filter: `${subjectPrefix}>` })
    return Object.keys(state.subjects ?? {}).map((subject) => subject.slice(subjectPrefix.length))
  }
  return { use, keys, subjectPrefix }
}

export function bucketName(ledgerId: string, of: 'nodes' | 'shards' | 'positions'): string {
  return `ledger_${ledgerId.replaceAll(/[^A-Za-z0-9_-]/g, '_')}_${of}`
}

export function subjectPrefixOf(bucket: string): string {
  return `$KV.${bucket}.`
}

export function isPresent(entry: KvEntry | null): entry is KvEntry {
  return entry !== null && entry.operation === 'PUT'
}

/** A write has no responders, a read gets `not found`. A stream without a leader fails alike: creating it is harmless. */
function isStreamLost(error: unknown): boolean {
  if (!(error instanceof NatsError)) return false
  return error.api_error?.err_code === STREAM_NOT_FOUND || (error.code === '503' && error.api_error === undefined)
}

/** The client's own errors quote only subjects of the lease store. */
export function causeOf(error: unknown): string {
  return error instanceof NatsError ? error.message : reasonOf(error)
}
