/**
 * A pool for queries that may wait and may fail: reads, clients, keys. Never for commits, whose outcome matters.
 *   Q1. At most `size` queries run and `maxWaiting` wait; what is beyond is refused at once.
 *   Q2. Every run ends: PostgreSQL ends a statement after `statementTimeoutMs`; a connection that does not even say so
 *       (half-open, server stopped) is thrown away with its pool, because the driver would put other queries on it.
 *   Q3. Every failure is the port's own error; the product's is its cause and goes no further than the log.
 *   Q4. What only reads, and met a connection that had gone while nobody used it, or one that was being made as the
 *       server came back, is asked again, a few times: a server that has just started is not away.
 */
import postgres from 'postgres'
import { setTimeout as pause } from 'node:timers/promises'
import { createSlots } from '../keys/slots.ts'
import { codeOf } from './failure.ts'
import { tlsByAddress } from './tls-by-address.ts'

export interface QueryPoolOptions {
  readonly url: string
  /** As it shows in pg_stat_activity. */
  readonly name: string
  readonly size: number
  readonly statementTimeoutMs: number
  readonly maxWaiting?: number
  /** Nothing that runs here writes: it may be asked twice (Q4). */
  readonly readsOnly?: boolean
  /** Server settings beside the common ones. */
  readonly settings?: Readonly<Record<string, string>>
  /** Makes the port's error. */
  readonly unavailable: (message: string, options: ErrorOptions) => Error
}

export interface QueryPool {
  readonly run: <T>(work: (sql: postgres.Sql) => Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

/** What the network and the driver may take on top of the statement itself. */
const GRACE_MS = 2_000
const CONNECT_TIMEOUT_SECONDS = 5
const KEEP_ALIVE_SECONDS = 5
/**
 * Between attempts to connect. The driver's own pause grows to 20 s while the server is down, and what is asked when
 * the server is back waits for it.
 */
const LONGEST_PAUSE_SECONDS = 0.25
/** Q4. */
const MAX_ATTEMPTS = 4
const PAUSE_MS = 50
/** The driver's and the network's codes for a connection that is not there, and the server's while it starts or stops. */
const LOST: ReadonlySet<string> = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  '57P01',
  '57P02',
  '57P03',
])

function isLost(error: unknown): boolean {
  return LOST.has(codeOf(error))
}

/** So that a backend whose client is gone ends, too. Texts throughout: the driver drops a setting that is `false`. */
const SERVER_SETTINGS = {
  timezone: 'UTC',
  datestyle: 'ISO, YMD',
  jit: 'off',
  tcp_user_timeout: '8s',
  client_connection_check_interval: '1s',
}

export function createQueryPool(options: QueryPoolOptions): QueryPool {
  const slots = createSlots({ concurrency: options.size, maxWaiting: options.maxWaiting ?? 1_000 })
  let sql = connect(options)

  const discard = async (stuck: postgres.Sql): Promise<void> => {
    if (stuck !== sql) return
    sql = connect(options)
    await stuck.end({ timeout: 0 })
  }

  return {
    run: async (work) => {
      try {
        return await slots.run(async () => {
          for (let attempt = 1; ; attempt += 1) {
            const used = sql
            try {
              return await within(work(used), options.statementTimeoutMs + GRACE_MS, () => discard(used))
            } catch (error) {
              if (options.readsOnly !== true || attempt === MAX_ATTEMPTS || !isLost(error)) throw error
              await pause(PAUSE_MS * attempt)
            }
          }
        })
      } catch (cause) {
        throw options.unavailable('The database did not answer this query.', { cause })
      }
    },
    close: () => sql.end({ timeout: 1 }),
  }
}

function connect(options: QueryPoolOptions): postgres.Sql {
  return postgres(options.url, {
    ...tlsByAddress(options.url),
    max: options.size,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    keep_alive: KEEP_ALIVE_SECONDS,
    backoff: (attempt) => Math.min(0.01 * 2 ** attempt, LONGEST_PAUSE_SECONDS),
    fetch_types: false,
    onnotice: () => undefined,
    connection: {
      ...SERVER_SETTINGS,
      application_name: options.name,
      statement_timeout: options.statementTimeoutMs,
      ...options.settings,
    },
  })
}

class QueryTimedOut extends Error {
  override readonly name = 'QueryTimedOut'
}

/** The result, or QueryTimedOut after `timeoutMs`; then `onTimeout` clears away what is stuck. */
async function within<T>(work: Promise<T>, timeoutMs: number, onTimeout: () => Promise<void>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new QueryTimedOut('The connection did not answer in time.'))
      onTimeout().catch(() => undefined)
    }, timeoutMs)
  })
  try {
    return await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
}
