/**
 * Connections for everything but commits. Each is opened when it is first needed, checked before it is used, and
 * replaced when it is gone; a statement that is not answered in time takes its connection with it. The time that it took
 * to open one counts for who waits, not against the connection: where opening is slow the next to ask finds it open.
 * Failures leave as `LedgerStoreUnavailable`.
 */
import { LedgerStoreUnavailable } from '../../../runtime/ports/ledger-store.ts'
import { type Connection, type Sql, withDeadline } from '../connection/connection.ts'
import { unavailable } from '../connection/failure.ts'

export interface Lanes {
  /** Runs on the connection with the least to do. What `work` sends at once goes out together. */
  readonly run: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

export interface LaneOptions {
  readonly count: number
  /** From the call to its answer, opening included, milliseconds. */
  readonly timeoutMs: number
  /** Opens a connection and checks whose it is. */
  readonly open: () => Promise<Connection>
}

interface Lane {
  inFlight: number
  connection: Connection | undefined
  opening: Promise<Connection> | undefined
}

export function createLanes(options: LaneOptions): Lanes {
  const lanes: Lane[] = Array.from({ length: options.count }, () => ({
    inFlight: 0,
    connection: undefined,
    opening: undefined,
  }))
  let closed = false

  function connectionOf(lane: Lane): Connection | Promise<Connection> {
    if (lane.connection?.isOpen() === true) return lane.connection
    lane.opening ??= openLane(lane)
    return lane.opening
  }

  async function openLane(lane: Lane): Promise<Connection> {
    try {
      const connection = await options.open()
      if (closed) {
        connection.destroy()
        throw new LedgerStoreUnavailable('the store is closed')
      }
      lane.connection = connection
      return connection
    } finally {
      lane.opening = undefined
    }
  }

  async function runOn<T>(lane: Lane, work: (sql: Sql) => Promise<T>): Promise<T> {
    const { timeoutMs } = options
    let late = false
    const answer = (async () => {
      const connection = await connectionOf(lane)
      // The caller has given up: it would not learn of a change.
      if (late) throw new LedgerStoreUnavailable('the caller gave up waiting')
      return withDeadline(work(connection.sql), timeoutMs, connection.destroy)
    })()
    return withDeadline(answer, timeoutMs, () => (late = true))
  }

  async function run<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    if (closed) throw new LedgerStoreUnavailable('the store is closed')
    const lane = leastLoaded(lanes)
    lane.inFlight += 1
    try {
      return await runOn(lane, work)
    } catch (cause) {
      throw unavailable(cause)
    } finally {
      lane.inFlight -= 1
    }
  }

  return {
    run,
    close: async () => {
      closed = true
      await Promise.all(lanes.map(async (lane) => lane.connection?.end()))
    },
  }
}

/** An idle open connection before a new one, a new one before a busy one. */
function leastLoaded(lanes: readonly Lane[]): Lane {
  const [first, ...others] = lanes
  if (first === undefined) throw new RangeError('at least one lane is needed')
  return others.reduce((best, lane) => (lane.inFlight < best.inFlight ? lane : best), first)
}
