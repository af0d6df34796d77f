/**
 * LeaseStore over two JetStream key-value buckets of each ledger: `ledger_<name>_nodes` (sessions) and
 * `ledger_<name>_shards` (hints). B1 and B3 are in bucket.ts.
 *   B2. The outcome of a write without an acknowledgement is unknown. Only then does `renew` overwrite a stored record of the
 *       same session.
 *   B4. Hints arrive as plain messages on the bucket's subjects, and are listed at the start and after each reconnect. The
 *       client's watches miss messages for seconds after a server restart, and leak consumers.
 *   B5. Unreadable records are skipped, so that they do not affect other nodes.
 *   B6. An edge only subscribes to hints. It has no right to use JetStream, because a JetStream request could direct its
 *       reply to any subject. PostgreSQL has the ownership that an edge misses.
 */
import { NatsError, type KV } from 'nats'
import type { Log } from '../../runtime/ports/log.ts'
import {
  type LeaseStore,
  type ListedSession,
  type Revision,
  type SessionRecord,
  type ShardHint,
  type Watch,
} from '../../runtime/ports/lease-store.ts'
import {
  type BucketOptions,
  bucketName,
  causeOf,
  createBucket,
  isPresent,
  subjectPrefixOf,
  type Bucket,
} from './bucket.ts'
import type { NatsLink } from './connection.ts'
import { decodeHint, decodeSession, encodeHint, encodeSession } from './lease-records.ts'

/** Removes the records of vanished nodes. The protocol does not rely on it. */
const NODE_GARBAGE_AFTER_MS = 3_600_000
const CONCURRENT_READS = 32
const WRONG_LAST_SEQUENCE = 10071
const RELIST_MIN_MS = 250
const RELIST_MAX_MS = 5000

export function createNatsLeaseStore(link: NatsLink, log: Log, options: BucketOptions): LeaseStore {
  const nodes = createBucket(link, bucketName(options.ledgerId, 'nodes'), options, NODE_GARBAGE_AFTER_MS)
  const shards = createBucket(link, bucketName(options.ledgerId, 'shards'), options, 0)
  /** B2: node ID -> session whose last write has an unknown outcome. */
  const unknownOutcome = new Map<string, string>()
  const lastWritten = new Map<string, Revision>()

  const compareAndSet = async (kv: KV, session: SessionRecord, seen: Revision): Promise<Revision | 'conflict'> => {
    try {
      // `create` also overwrites the deletion marker of `end`.
      const body = encodeSession(session)
      return seen === 0 ? await kv.create(session.nodeId, body) : await kv.update(session.nodeId, body, seen)
    } catch (error) {
      if (isConflict(error)) return 'conflict'
      throw error
    }
  }
  const renew = async (session: SessionRecord, seen: Revision): Promise<Revision | 'conflict'> => {
    const { nodeId } = session
    const isUnknown = unknownOutcome.get(nodeId) === session.session
    unknownOutcome.set(nodeId, session.session)
    const outcome = await nodes.use(async (kv) => {
      const first = await compareAndSet(kv, session, seen)
      if (first !== 'conflict' || !isUnknown) return first
      const there = await readSession(kv, nodeId, log)
      return there?.session === session.session ? compareAndSet(kv, session, there.revision) : 'conflict'
    })
    unknownOutcome.delete(nodeId)
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
        // Another session of the node has written since: it must stay.
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

/** The lease store of an edge (B6). */
export function createNatsHints(link: NatsLink, log: Log, ledgerId: string): Pick<LeaseStore, 'watchHints'> {
  const subjects = `${subjectPrefixOf(bucketName(ledgerId, 'shards'))}*`
  return {
    watchHints: (onHint) => {
      return { stop: subscribeToHints(link, subjects, log, onHint) }
    },
  }
}

/** Undefined if the session has ended or its record is unreadable (B5). */
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

async function listed<T>(
  keys: readonly string[],
  read: (key: string) => Promise<T | undefined>,
): Promise<readonly T[]> {
  const found: T[] = []
  for (let start = 0; start < keys.length; start += CONCURRENT_READS) {
    const values = await Promise.all(keys.slice(start, start + CONCURRENT_READS).map(read))
    for (const value of values) if (value !== undefined) found.push(value)
  }
  return found
}

function watchHints(link: NatsLink, shards: Bucket, log: Log, onHint: (hint: ShardHint) => void): Watch {
  let stopped = false
  let retry: NodeJS.Timeout | undefined
  let round = 0
  const deliver = (hint: ShardHint): void => {
    if (!stopped) callBack(hint, log, onHint)
  }
  const unsubscribe = subscribeToHints(link, `${shards.subjectPrefix}*`, log, deliver)
  const relist = async (waitMs: number): Promise<void> => {
    clearTimeout(retry)
    round += 1
    const mine = round
    const isCurrent = (): boolean => !stopped && mine === round
    try {
      const hints = await shards.use(async (kv) => listed(await shards.keys(), (shardId) => readHint(kv, shardId)))
      if (isCurrent()) for (const hint of hints) deliver(hint)
    } catch {
      // Until the list succeeds, routes are learned from replies.
      if (!isCurrent()) return
      const next = Math.min(RELIST_MAX_MS, 2 * waitMs)
      retry = setTimeout(() => void relist(next), waitMs * (0.5 + Math.random()))
      retry.unref()
    }
  }
  const ignoreReconnects = link.onReconnect(() => void relist(RELIST_MIN_MS))
  const stop = (): void => {
    stopped = true
    clearTimeout(retry)
    ignoreReconnects()
    unsubscribe()
  }
  void relist(RELIST_MIN_MS)
  // Retries over a closed connection cannot succeed.
  void link.closed.then(stop)
  return { stop }
}

/** Returns a function that ends the subscription. */
function subscribeToHints(link: NatsLink, subjects: string, log: Log, onHint: (hint: ShardHint) => void): () => void {
  const subscription = link.connection.subscribe(subjects, {
    callback: (error, message) => {
      if (error !== null) return log.error('hints_refused', { code: error.code })
      let hint: ShardHint
      try {
        hint = decodeHint(message.string())
      } catch {
        return log.warn('hint_unreadable')
      }
      callBack(hint, log, onHint)
    },
  })
  return () => {
    if (!subscription.isClosed()) subscription.unsubscribe()
  }
}

function callBack(hint: ShardHint, log: Log, onHint: (hint: ShardHint) => void): void {
  try {
    onHint(hint)
  } catch (error) {
    log.error('hint_watcher_failed', { reason: causeOf(error) })
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof NatsError && error.api_error?.err_code === WRONG_LAST_SEQUENCE
}
