/**
 * LeaseStore over two JetStream key-value buckets of each ledger: `ledger_<name>_nodes` (session keys) and
 * `ledger_<name>_shards` (hints). B1 and B3 are in bucket.ts.
 *   B2. A write whose acknowledgement did not come is in doubt. Only then is a stored record of the same session taken
 *       for our own, and written upon.
 *   B4. Hints are heard as plain messages on the bucket's subjects, and listed at the start and after each reconnect:
 *       the client's watches stay deaf for seconds after a server restarts, and leak consumers.
 *   B5. What cannot be read is left out: it counts as a node that says nothing, and spares the others its fate.
 *   B6. An edge hears hints and does nothing else: it may neither make buckets nor ask JetStream, whose answers go
 *       wherever who asks wants them. What it missed it learns from PostgreSQL.
 */
import { NatsError, type KV, type Subscription } from 'nats'
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

/** Only to sweep away nodes that will never come back; expiry means nothing to the protocol. */
const NODE_GARBAGE_AFTER_MS = 3_600_000
/** Reads of one list that are under way at once. */
const READS_AT_ONCE = 32
const WRONG_LAST_SEQUENCE = 10071
const RELIST_MIN_MS = 250
const RELIST_MAX_MS = 5000

export function createNatsLeaseStore(link: NatsLink, log: Log, options: BucketOptions): LeaseStore {
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
