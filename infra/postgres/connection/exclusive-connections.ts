/**
 * Connections that pieces of work have one after the other, each for itself.
 *   C1. A piece of work has one connection (connection.ts) for all that it asks: what it asks once that is gone is
 *       refused, and goes to no other, where it would be outside of its transaction.
 *   C2. A connection is used again only after work that succeeded, or of which the server refused a statement: then the
 *       session goes on, its transaction is rolled back, and what was asked beside that is answered before what the next
 *       asks. After any other failure it is thrown away.
 *   C3. Work that exceeds its deadline destroys its connection and all unused ones: the same cause may have silenced
 *       them.
 *   C4. A connection is opened when there is none to spare: never more than there is work at once, which callers bound.
 */
import postgres from 'postgres'
import { TransientMap } from '../../../runtime/common/transient-map.ts'
import { type Connection, type Sql, withDeadline } from './connection.ts'

export interface ExclusiveConnections {
  /** Rejects with what the work, the driver or the network says, with DeadlinePassed or with ConnectionsClosed. */
  readonly use: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>
  /** Running work has a second to end. */
  readonly close: () => Promise<void>
}

export interface ExclusiveConnectionsOptions {
  readonly open: () => Promise<Connection>
  /** Of a piece of work, opening included, milliseconds. */
  readonly timeoutMs: number
  /** A connection that is older is not used again, milliseconds. */
  readonly lifetimeMs: number
}

export class ConnectionsClosed extends Error {
  override readonly name = 'ConnectionsClosed'
}

interface Held {
  readonly connection: Connection
  /** Of the monotonic clock. */
  readonly openedAtMs: number
}

const CLOSE_MS = 1_000

export function createExclusiveConnections(options: ExclusiveConnectionsOptions): ExclusiveConnections {
  const connections = new Set<Connection>()
  const idle = createIdle(options.lifetimeMs)
  /** By their numbers. */
  const underWay = new TransientMap<number, Promise<unknown>>()
  let begun = 0
  let closed = false

  async function open(): Promise<Held> {
    const connection = await options.open()
    connections.add(connection)
    connection.onClosed(() => connections.delete(connection))
    return { connection, openedAtMs: performance.now() }
  }

  async function runOn<T>(held: Held, work: (sql: Sql) => Promise<T>): Promise<T> {
    const done = (): void => (closed ? held.connection.destroy() : idle.put(held))
    try {
      const result = await work(held.connection.sql)
      done()
      return result
    } catch (error) {
      if (isRefusedStatement(error)) done()
      else held.connection.destroy()
      throw error
    }
  }

  async function inTime<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    let held: Held | undefined
    let late = false
    const result = (async () => {
      held = idle.take() ?? (await open())
      if (!late && !closed) return runOn(held, work)
      held.connection.destroy()
      throw new ConnectionsClosed('The caller gave up waiting for the connection.')
    })()
    return withDeadline(result, options.timeoutMs, () => {
      late = true
      held?.connection.destroy()
      for (const connection of idle.takeAll()) connection.destroy()
    })
  }

  return {
    use: async (work) => {
      if (closed) throw new ConnectionsClosed('The connections are closed.')
      const running = inTime(work)
      begun += 1
      const number = begun
      underWay.set(number, running)
      try {
        return await running
      } finally {
        underWay.delete(number)
      }
    },
    close: async () => {
      closed = true
      const ended = idle.takeAll().map((connection) => connection.end())
      await withDeadline(Promise.allSettled([...underWay.values(), ...ended]), CLOSE_MS, () => {
        for (const connection of connections) connection.destroy()
      }).catch(() => undefined)
    },
  }
}

interface Idle {
  /** One that is open and not too old. */
  readonly take: () => Held | undefined
  readonly takeAll: () => readonly Connection[]
  readonly put: (held: Held) => void
}

/** The one that was used last is used next: it is the likeliest to be there still. */
function createIdle(lifetimeMs: number): Idle {
  const idle: Held[] = []
  return {
    take: () => {
      for (let held = idle.pop(); held !== undefined; held = idle.pop()) {
        if (performance.now() - held.openedAtMs >= lifetimeMs) held.connection.destroy()
        if (held.connection.isOpen()) return held
      }
      return undefined
    },
    takeAll: () => idle.splice(0).map(({ connection }) => connection),
    put: (held) => {
      if (held.connection.isOpen()) idle.push(held)
    },
  }
}

/** Not FATAL: with that the session ends. */
function isRefusedStatement(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.severity === 'ERROR'
}
