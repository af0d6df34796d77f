/**
 * A pool for queries that may wait and may fail: reads, clients, keys. Never for commits, whose outcome matters.
 *   Q1. At most `size` queries run and `maxWaiting` wait; what is beyond is refused at once.
 *   Q2. Every run ends: PostgreSQL ends a statement after `statementTimeoutMs`; a connection that does not even say so
 *       (half-open, server stopped) is thrown away.
 *   Q3. Every failure is the port's own error; the product's is its cause and goes no further than the log.
 *   Q4. A read that met a connection that was lost while idle, or one that was opened as the server came back, is tried
 *       again a few times: a server that has just started is not unavailable.
 *   Q5. A run has one connection for itself (exclusive-connections.ts). Where that is lost the run fails; what it asks after
 *       that is refused, and nothing of its transaction is applied, unless the connection was lost while it committed.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { createSlots } from '../../../runtime/common/slots.ts'
import { connect, type Sql } from './connection.ts'
import { createExclusiveConnections } from './exclusive-connections.ts'
import { codeOf } from './failure.ts'

export interface QueryPoolOptions {
  readonly url: string
  /** As it shows in pg_stat_activity. */
  readonly name: string
  readonly size: number
  readonly statementTimeoutMs?: number
  readonly maxWaiting?: number
  /** A connection that is older is not used again, milliseconds. */
  readonly lifetimeMs?: number
  /** Nothing that runs here writes: it may be asked twice (Q4). */
  readonly readsOnly?: boolean
  /** Server settings beside the common ones. */
  readonly settings?: Readonly<Record<string, string>>
  /** Makes the port's error. */
  readonly unavailable: (message: string, options: ErrorOptions) => Error
}

export interface QueryPool {
  readonly run: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>
  /** Running work has a second to end; waiting work is refused. */
  readonly close: () => Promise<void>
}

/** Time for the network and the driver beyond the statement itself. */
const GRACE_MS = 2_000
const STATEMENT_TIMEOUT_MS = 5_000
const CONNECT_TIMEOUT_MS = 5_000
/** A server process keeps what it has learnt of tables and plans: a new one now and then forgets it. */
const LIFETIME_MS = 2_700_000
/** Q4, between one attempt and the next: one that was gone is replaced at once, a server takes longer to start. */
const PAUSES_MS = [50, 250, 450]
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

export function createQueryPool(options: QueryPoolOptions): QueryPool {
  const slots = createSlots({ concurrency: options.size, maxWaiting: options.maxWaiting ?? 1_000 })
  const { statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options
  const timeoutMs = statementTimeoutMs + GRACE_MS
  const connections = createExclusiveConnections({
    timeoutMs,
    lifetimeMs: options.lifetimeMs ?? LIFETIME_MS,
    open: () =>
      connect({
        url: options.url,
        applicationName: options.name,
        // Opening may take twice that, the time that callers wait.
        connectTimeoutMs: Math.min(CONNECT_TIMEOUT_MS, timeoutMs / 2),
        settings: { statement_timeout: String(statementTimeoutMs), ...options.settings },
      }),
  })
  const pauses = options.readsOnly === true ? PAUSES_MS : []

  return {
    run: async (work) => {
      try {
        return await slots.run(async () => {
          for (const pauseMs of pauses) {
            try {
              return await connections.use(work)
            } catch (error) {
              if (!isLost(error)) throw error
            }
            await pause(pauseMs)
          }
          return connections.use(work)
        })
      } catch (cause) {
        throw options.unavailable('The database did not answer this query.', { cause })
      }
    },
    close: connections.close,
  }
}
