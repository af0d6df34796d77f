/**
 * LeaseStore over two JetStream key-value buckets of each ledger: `ledger_<name>_nodes` (session keys) and
 * `ledger_<name>_shards` (hints).
 *   B1. Reads go through the stream's leader (`allow_direct` off): a direct read of a cluster may be stale.
 *   B2. A write whose acknowledgement did not come is in doubt. Only then is a stored record of the same session taken
 *       for our own, and written upon.
 *   B3. A bucket that is gone (a server that lost its store) is made again; what was in it is not.
 *   B4. Hints are heard as plain messages on the bucket's subjects, and listed at the start and after each reconnect:
 *       the client's watches stay deaf for seconds after a server restarts, and leak consumers.
 *   B5. What cannot be read is left out: it counts as a node that says nothing, and spares the others its fate.
 *   B6. An edge hears hints and does nothing else: it may neither make buckets nor ask JetStream, whose answers go
 *       wherever who asks wants them. What it missed it learns from PostgreSQL.
 */
import { NatsError, StorageType, type JetStreamManager, type KV, type KvEntry, type Subscription } from 'nats'
import type { Log } from '../../runtime/ports/log.ts'
import {
  LeaseStoreUnavailable,
  type LeaseStore,
  type ListedSession,
  type Revision,
  type SessionRecord,
  type ShardHint,
  type Watch,
} from '../../runtime/ports/lease-store.ts'
import { reasonOf } from '../../runtime/reason.ts'
import type { NatsLink } from './connection.ts'
import { decodeHint, decodeSession, encodeHint, encodeSession } from './lease-records.ts'

export interface LeaseStoreOptions {
  /** Ledgers that share a NATS server must not take each other's nodes and epochs for their own. */
  readonly ledgerId: string
  /** Copies of each bucket; 3 in a cluster. */
  readonly replicas: number
  /** Nothing here must survive: memory is enough on one server, files spare a cluster a rebuild. */
  readonly storage: 'memory' | 'file'
}

const CALL_TIMEOUT_MS = 1000
/** Only to sweep away nodes that will never come back; expiry means nothing to the protocol. */
const NODE_GARBAGE_AFTER_MS = 3_600_000
/** Reads of one list that are under way at once. */
const READS_AT_ONCE = 32
const WRONG_LAST_SEQUENCE = 10071
const STREAM_NOT_FOUND = 10059
const RELIST_MIN_MS = 250
const RELIST_MAX_MS = 5000

export function createNatsLeaseStore(link: NatsLink, log: Log, options: LeaseStoreOptions): LeaseStore {
  const nodes = createBucket(link, bucketName(options.ledgerId, 'nodes'), options, NODE_GARBAGE_AFTER_MS)
  const shards = createBucket(link, bucketName(options.ledgerId, 'shards'), options, 0)
  /** B2: sessions whose last write has no known outcome, by node. */
  const inDoubt = new Map<string, string>()
  const lastWritten = new Map<string, Revision>()

  const compareAndSet = async (kv: KV, session: SessionRecord, seen: Revision): Promise<Revision | 'conflict'> => {
    try {
      // `create` also writes over the marker that `end` leaves.
      const body = encodeSession(session)
      return seen === 0 ? await kv.create(session.nodeId, body) : await kv.update(session.nodeId, body, seen)
    } catch (error) {
      if (isConflict(error)) return 'conflict'
      throw error
    }
  }
  const renew = async (session: SessionRecord, seen: Revision): Promise<Revision | 'conflict'> => {
    const { nodeId } = session
    const doubted = inDoubt.get(nodeId) === session.session
    inDoubt.set(nodeId, session.session)
    const outcome = await nodes.use(async (kv) => {
      const first = await compareAndSet(kv, session, seen)
      if (first !== 'conflict' || !doubted) return first
      const there = await readSession(kv, nodeId, log)
      return there?.session === session.session ? compareAndSet(kv, session, there.revision) : 'conflict'
    })
    inDoubt.delete(nodeId)
    if (outcome !== 'conflict') lastWritten.set(nodeId, outcome)
    return outcome
  }
  const end = async (nodeId: string): Promise<void> => {
    const revision = lastWritten.get(nodeId)
    if (revision === undefined) return
    await nodes.use(async (kv) => {
      try {
        await kv.delete(nodeId, { previousSeq: revision })
      } catch (error) {
        // Whoever wrote it since has not ended.
        if (!isConflict(error)) throw error
      }
    })
    lastWritten.delete(nodeId)
  }
  const list = (): Promise<readonly ListedSession[]> =>
    nodes.use(async (kv) => listed(await nodes.keys(), (nodeId) => readSession(kv, nodeId, log)))
  return {
    renew,
    list,
    end,
    hint: (hint) =>
      shards.use(async (kv) => {
        await kv.put(String(hint.shardId), encodeHint(hint))
      }),
    watchHints: (onHint) => watchHints(link, shards, log, onHint),
  }
}

/** What an edge has of the lease store (B6). */
export function createNatsHints(link: NatsLink, log: Log, ledgerId: string): Pick<LeaseStore, 'watchHints'> {
  const subjects = `${subjectPrefixOf(bucketName(ledgerId, 'shards'))}*`
  return {
    watchHints: (onHint) => {
      const subscription = hearHints(link, subjects, log, onHint)
      return {
        stop: () => {
          if (!subscription.isClosed()) subscription.unsubscribe()
        },
      }
    },
  }
}

function bucketName(ledgerId: string, of: 'nodes' | 'shards'): string {
  return `ledger_${ledgerId.replaceAll(/[^A-Za-z0-9_-]/g, '_')}_${of}`
}

function subjectPrefixOf(bucket: string): string {
  return `$KV.${bucket}.`
}

interface Bucket {
  /** Runs `call` on the bucket, once more if the bucket had to be made again (B3). Rejects with `LeaseStoreUnavailable` only. */
  readonly use: <T>(call: (kv: KV) => Promise<T>) => Promise<T>
  /** The bucket's keys as of one moment; those of ended sessions too. Use it inside `use`. */
  readonly keys: () => Promise<readonly string[]>
  readonly subjectPrefix: string
}

function createBucket(link: NatsLink, name: string, options: LeaseStoreOptions, ttlMs: number): Bucket {
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
        // Nothing was written: without its stream nobody takes a write.
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

/** Undefined for one that has ended, and for one that cannot be read (B5). */
async function readSession(kv: KV, nodeId: string, log: Log): Promise<ListedSession | undefined> {
  const entry = await kv.get(nodeId)
  if (!isPresent(entry)) return undefined
  try {
    return { ...decodeSession(entry.string()), revision: entry.revision }
  } catch {
    log.warn('session_unreadable', { node: nodeId })
    return undefined
  }
}

async function readHint(kv: KV, shardId: string): Promise<ShardHint | undefined> {
  const entry = await kv.get(shardId)
  return isPresent(entry) ? decodeHint(entry.string()) : undefined
}

function isPresent(entry: KvEntry | null): entry is KvEntry {
  return entry !== null && entry.operation === 'PUT'
}

async function listed<T>(
  keys: readonly string[],
  read: (key: string) => Promise<T | undefined>,
): Promise<readonly T[]> {
  const found: T[] = []
  for (let start = 0; start < keys.length; start += READS_AT_ONCE) {
    const values = await Promise.all(keys.slice(start, start + READS_AT_ONCE).map(read))
    for (const value of values) if (value !== undefined) found.push(value)
  }
  return found
}

function watchHints(link: NatsLink, shards: Bucket, log: Log, onHint: (hint: ShardHint) => void): Watch {
  let stopped = false
  let retry: NodeJS.Timeout | undefined
  let round = 0
  const say = (hint: ShardHint): void => {
    if (!stopped) tell(hint, log, onHint)
  }
  const subscription = hearHints(link, `${shards.subjectPrefix}*`, log, say)
  const relist = async (waitMs: number): Promise<void> => {
    clearTimeout(retry)
    round += 1
    const mine = round
    const isCurrent = (): boolean => !stopped && mine === round
    try {
      const hints = await shards.use(async (kv) => listed(await shards.keys(), (shardId) => readHint(kv, shardId)))
      if (isCurrent()) for (const hint of hints) say(hint)
    } catch {
      // Hints may be missing; until then routes are learnt from answers.
      if (!isCurrent()) return
      const next = Math.min(RELIST_MAX_MS, 2 * waitMs)
      retry = setTimeout(() => void relist(next), waitMs * (0.5 + Math.random()))
      retry.unref()
    }
  }
  const forget = link.onReconnect(() => void relist(RELIST_MIN_MS))
  const stop = (): void => {
    stopped = true
    clearTimeout(retry)
    forget()
    if (!subscription.isClosed()) subscription.unsubscribe()
  }
  void relist(RELIST_MIN_MS)
  // Nothing is listed over a connection that is closed for good, however often it is tried.
  void link.closed.then(stop)
  return { stop }
}

function hearHints(link: NatsLink, subjects: string, log: Log, onHint: (hint: ShardHint) => void): Subscription {
  return link.connection.subscribe(subjects, {
    callback: (error, message) => {
      if (error !== null) return log.error('hints_refused', { code: error.code })
      let hint: ShardHint
      try {
        hint = decodeHint(message.string())
      } catch {
        return log.warn('hint_unreadable')
      }
      tell(hint, log, onHint)
    },
  })
}

function tell(hint: ShardHint, log: Log, onHint: (hint: ShardHint) => void): void {
  try {
    onHint(hint)
  } catch (error) {
    log.error('hint_watcher_failed', { reason: causeOf(error) })
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof NatsError && error.api_error?.err_code === WRONG_LAST_SEQUENCE
}

/** A write without its stream has no responders; a read is told. Without a leader both look so too: made again, it is still there. */
function isStreamLost(error: unknown): boolean {
  if (!(error instanceof NatsError)) return false
  return error.api_error?.err_code === STREAM_NOT_FOUND || (error.code === '503' && error.api_error === undefined)
}

/** The client's own errors quote no more than subjects of the lease store. */
function causeOf(error: unknown): string {
  return error instanceof NatsError ? error.message : reasonOf(error)
}
