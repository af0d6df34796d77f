/**
 * One connection to PostgreSQL: how it is opened and what closes it.
 *   K1. One object is one TCP connection: when it is gone nothing is sent again, neither by us nor by the driver.
 *       (The driver would reconnect by itself and send its queries to a backend that was not checked.)
 *   K2. Both ends notice a dead peer: the client by keepalive, the server by keepalive, by unacknowledged data, and by
 *       looking at the socket while a statement runs. Otherwise a backend keeps its row locks for two hours.
 *   K3. Closing is known at once: `isOpen` is false before any later call could be made.
 */
import net from 'node:net'
import postgres from 'postgres'
import { tlsOptions } from './tls-by-address.ts'

export type Sql = postgres.Sql

/** A notice or warning, without its text, which may quote rows. */
export interface ServerNotice {
  /** SQLSTATE. */
  readonly code: string
  /** The server's source file that raised it; independent of the language of messages. */
  readonly file: string
}

export interface ConnectOptions {
  readonly url: string
  /** At most 63 bytes of ASCII: PostgreSQL cuts off what is longer. */
  readonly applicationName: string
  /** Server settings beside the common ones, such as `lock_timeout`. */
  readonly settings?: Readonly<Record<string, string>>
  /** Of the server's acceptance; with what it takes to know its process, twice that. */
  readonly connectTimeoutMs?: number
  /** Notices of the server, from WARNING up. Ignored by default. */
  readonly onNotice?: (notice: ServerNotice) => void
}

export interface Connection {
  readonly sql: Sql
  readonly backend: Backend
  readonly isOpen: () => boolean
  /** Calls back once, when it has closed for whatever reason. */
  readonly onClosed: (run: () => void) => void
  /** Gone at once: what is in flight is rejected, and what the server makes of it is not known. */
  readonly destroy: () => void
  /** Ends it after what is in flight. */
  readonly end: () => Promise<void>
}

/** A server process, named so that a later one with the same number is not taken for it. */
export interface Backend {
  readonly pid: number
  readonly startedAt: string
}

const DEFAULT_CONNECT_TIMEOUT_MS = 5_000
/**
 * Logging in and asking for the process are five round trips, a statement is one or two: a server that answers statements
 * just in time, and lost a connection, would never get another if this were no longer than that.
 */
const OPENING_PER_ACCEPTANCE = 2
/** Of the client's keepalive. The interval of 1 s and the number of probes are the runtime's own. */
const KEEP_ALIVE_MS = 5_000
const END_TIMEOUT_S = 2

/** Times are read and written in UTC; the last three settings are K2. */
const COMMON_SETTINGS: Readonly<Record<string, string>> = {
  timezone: 'UTC',
  datestyle: 'ISO, YMD',
  client_min_messages: 'warning',
  jit: 'off',
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '1',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '8s',
  client_connection_check_interval: '1s',
}

/** Rejects with an error of the driver or the network: callers translate it. */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const connectTimeoutMs = options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS
  const openTimeoutMs = OPENING_PER_ACCEPTANCE * connectTimeoutMs
  const closedListeners: (() => void)[] = []
  let open = true
  let ending = false
  let socket: net.Socket | undefined
  const cut = new AbortController()

  function noteClosed(): void {
    if (!open) return
    open = false
    for (const run of closedListeners) run()
  }

  /** Called by the driver for each connection it wants: it gets one (K1). */
  async function onlySocket({ host, port, path }: SocketTarget): Promise<net.Socket> {
    if (socket !== undefined || !open) throw new Error('the connection is gone')
    socket = new net.Socket()
    socket.once('end', noteClosed)
    socket.once('close', noteClosed)
    endBeforeClose(socket, async () => {
      noteClosed()
      // Of one that is ended in order the driver waits for the close.
      if (!ending) await sql.end({ timeout: 0 })
    })
    return connectSocket(socket, { host, port, path }, connectTimeoutMs)
  }

  const sql = postgres(options.url, driverOptions(options, openTimeoutMs, onlySocket, noteClosed, cut.signal))
  function destroy(): void {
    noteClosed()
    // What TLS has made of the socket goes first (T2 of tls-by-address.ts).
    cut.abort()
    socket?.destroy()
    void sql.end({ timeout: 0 })
  }
  try {
    const backend = await withDeadline(readBackend(sql), openTimeoutMs, destroy)
    return {
      sql,
      backend,
      isOpen: () => open,
      onClosed: (run) => void (open ? closedListeners.push(run) : run()),
      destroy,
      end: async () => {
        ending = true
        await sql.end({ timeout: END_TIMEOUT_S })
        destroy()
      },
    }
  } catch (cause) {
    destroy()
    throw cause
  }
}

/**
 * The driver hears that its socket has closed only after it has ended: else it would write what a transaction still asks,
 * its own ROLLBACK too, to the socket that it has no more, and the whole process would fail (porsager/postgres#1208).
 * Having ended it refuses whatever is asked.
 */
function endBeforeClose(socket: net.Socket, end: () => Promise<void>): void {
  const emit = socket.emit.bind(socket)
  socket.emit = (event: string | symbol, ...values: unknown[]): boolean => {
    if (event !== 'close') return emit(event, ...values)
    const close = (): void => void emit(event, ...values)
    void end().then(close, close)
    return true
  }
}

interface SocketTarget {
  readonly host: readonly string[]
  readonly port: readonly number[]
  readonly path: string | false | undefined
}

function driverOptions(
  options: ConnectOptions,
  openTimeoutMs: number,
  socket: (target: SocketTarget) => Promise<net.Socket>,
  onclose: () => void,
  signal: AbortSignal,
): postgres.Options<Record<string, postgres.PostgresType>> {
  const all = {
    max: 1,
    prepare: true,
    fetch_types: false,
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: Math.ceil(openTimeoutMs / 1000),
    keep_alive: KEEP_ALIVE_MS / 1000,
    debug: false,
    connection: { ...COMMON_SETTINGS, ...options.settings, application_name: options.applicationName },
    onnotice: ({ code = '', file = '' }) => options.onNotice?.({ code, file }),
    onclose,
    socket,
    ...tlsOptions(options.url, signal),
  }
  return all
}

export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed'
}

/** Rejects with DeadlinePassed when the work is not done in time, then calls `onLate`. A later failure of the work is then ignored. */
export async function withDeadline<T>(work: Promise<T>, timeoutMs: number, onLate: () => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      // First: what is cleared away fails the work, too, and says less.
      reject(new DeadlinePassed(`no answer within ${timeoutMs} ms`))
      onLate()
    }, timeoutMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

async function readBackend(sql: Sql): Promise<Backend> {
  const [row] = await sql<Backend[]>`
    SELECT pid, backend_start::text AS "startedAt" FROM pg_stat_activity WHERE pid = pg_backend_pid()`
  if (row === undefined) throw new Error('the server does not show its own process')
  return row
}

/** The driver reads `host` and `port` from the socket for TLS and for its errors. */
function connectSocket(socket: net.Socket, target: SocketTarget, timeoutMs: number): Promise<net.Socket> {
  const host = target.host[0] ?? 'localhost'
  const port = target.port[0] ?? 5432
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(new Error('the connection was not accepted in time')), timeoutMs)
    const settle = (): void => {
      clearTimeout(timer)
      socket.off('error', onError)
      socket.off('close', onClose)
    }
    const onError = (error: Error): void => {
      settle()
      reject(error)
    }
    const onClose = (): void => onError(new Error('the connection was closed before it was open'))
    socket.once('error', onError)
    socket.once('close', onClose)
    const connected = (): void => {
      settle()
      socket.setNoDelay(true)
      socket.setKeepAlive(true, KEEP_ALIVE_MS)
      resolve(Object.assign(socket, { host, port }))
    }
    const path = typeof target.path === 'string' ? target.path : socketPath(host, port)
    if (path === undefined) socket.connect(port, host, connected)
    else socket.connect(path, connected)
  })
}

/** An encoded absolute path in place of the host, which the driver does not decode, is the directory of a Unix socket. */
function socketPath(host: string, port: number): string | undefined {
  const directory = host.startsWith('%2F') ? decodeURIComponent(host) : undefined
  return directory && `${directory}/.s.PGSQL.${port}`
}

const LONGEST_NODE_ID = 23

/** `ledger:<node>:<session>`, cut so that the session's 32 digits are always whole. */
export function applicationName(nodeId: string, session: string): string {
  return `ledger:${nodeId.replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, LONGEST_NODE_ID)}:${session}`
}
