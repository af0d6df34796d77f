/**
 * One connection to NATS, with options that never give up: the client's defaults close it for good after 10 attempts,
 * notice a dead link after minutes, and build a stack trace for every request.
 *   C1. Credentials come from the address or a file. They appear in no log line and no error.
 *   C2. `connected()` may say no of a link that has just come back, and yes of one that has just broken; while it says
 *       no, nothing may be published: the client would drop it or send it later, nobody could say which.
 *   C3. A connection that is closed for good says so, so that the process can end: it would be deaf for ever.
 *   C4. A server that does not carry the largest item of the ledger is refused at the first connect; one that is met
 *       after a reconnect is told of in the log.
 */
import { readFileSync } from 'node:fs'
import {
  connect,
  credsAuthenticator,
  DebugEvents,
  Events,
  NatsError,
  nkeyAuthenticator,
  type Authenticator,
  type ConnectionOptions,
  type NatsConnection,
} from 'nats'
import type { Log } from '../../runtime/ports/log.ts'
import { identityCheckFor } from './server-identity.ts'

export interface NatsOptions {
  /** `nats://` or `tls://`, perhaps with `user:password@` or `token@`; all servers are given the first credentials found. */
  readonly urls: readonly string[]
  /** A file with a user's JWT and seed (`.creds`) or with an nkey seed alone. It wins over what the addresses carry. */
  readonly credentialsFile?: string
  /** PEM files. Given, or with a `tls://` address, TLS is demanded. */
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string }
  /** Shown in the server's monitoring. */
  readonly name: string
  /** Replies come to subjects under it; one per role, so that no role is allowed to read another's replies. */
  readonly inboxPrefix: string
  readonly log: Log
}

export interface NatsLink {
  readonly connection: NatsConnection
  readonly inboxPrefix: string
  readonly connected: () => boolean
  /** Calls back after every reconnect, until the returned function is called. */
  readonly onReconnect: (run: () => void) => () => void
  /** Resolves with the reason once the connection is closed for good, and with null when `close` did it. */
  readonly closed: Promise<string | null>
  /** Drains subscriptions, sends what is written, and closes. */
  readonly close: () => Promise<void>
}

const CONNECT_TIMEOUT_MS = 5000
const RECONNECT_WAIT_MS = 250
const RECONNECT_JITTER_MS = 250
const PING_INTERVAL_MS = 3000
const PINGS_UNANSWERED = 2
const DRAIN_TIMEOUT_MS = 5000
/**
 * What one item and its answer need at most. Everything in a body that is sent on is bounded: metadata of 4,096 bytes, a
 * public key of 2,048 characters, signatures and names, and inside a message each character takes three bytes at most:
 * less than 64 KiB. The rest is for the client's grants, 3,000 token IDs and more.
 */
const SMALLEST_MAX_PAYLOAD_BYTES = 262_144
/** How often a first connect that does not come is mentioned. */
const STILL_WAITING_MS = 10_000

/** Waits until a server answers. Rejects only for settings or credentials that cannot work, and for C4. */
export async function connectNats(options: NatsOptions): Promise<NatsLink> {
  const { name, log } = options
  const settings = connectionOptions(options)
  const waiting = setInterval(() => log.warn('nats_not_reached_yet', { name }), STILL_WAITING_MS)
  let connection: NatsConnection
  try {
    connection = await connect(settings)
  } catch (cause) {
    // The client's errors carry codes and server addresses, which were stripped of credentials before.
    throw new Error(`NATS refused the connection: ${cause instanceof NatsError ? cause.code : 'failed'}`, { cause })
  } finally {
    clearInterval(waiting)
  }
  const tooSmall = payloadFault(connection)
  if (tooSmall === undefined) return linkOf(connection, options)
  await connection.close()
  throw new Error(tooSmall)
}

/** Undefined: the server that is connected carries enough (C4). */
function payloadFault({ info }: NatsConnection): string | undefined {
  const carried = info?.max_payload
  if (carried === undefined || carried >= SMALLEST_MAX_PAYLOAD_BYTES) return undefined
  return (
    `this NATS server carries messages of at most ${carried} bytes and the ledger needs ${SMALLEST_MAX_PAYLOAD_BYTES}: ` +
    'set "max_payload: 8MB" in the configuration of every nats-server of the cluster (its default, 1MB, is enough)'
  )
}

function linkOf(connection: NatsConnection, { name, inboxPrefix, log }: NatsOptions): NatsLink {
  const reconnected = new Set<() => void>()
  let connected = true
  let closing = false
  const follow = async (): Promise<void> => {
    for await (const { type, data } of connection.status()) {
      if (type === Events.Disconnect) {
        connected = false
        log.warn('nats_disconnected', { name })
      } else if (type === Events.Reconnect) {
        connected = true
        log.info('nats_reconnected', { name })
        const tooSmall = payloadFault(connection)
        if (tooSmall !== undefined) log.error('nats_carries_too_little', { name, reason: tooSmall })
        for (const run of reconnected) run()
      } else if (type === Events.Error)
        log.error('nats_error', { name, code: typeof data === 'string' ? data : 'unknown' })
      else if (type === Events.LDM || type === DebugEvents.StaleConnection) log.warn(`nats_${type}`, { name })
    }
  }
  follow().catch(() => log.error('nats_status_lost', { name }))
  const closed = connection.closed().then((error) => {
    connected = false
    if (closing) return null
    const reason = error instanceof NatsError ? error.code : 'closed'
    log.error('nats_closed', { name, reason })
    return reason
  })
  return {
    connection,
    inboxPrefix,
    connected: () => connected && !connection.isClosed(),
    onReconnect: (run) => {
      reconnected.add(run)
      return () => reconnected.delete(run)
    },
    closed,
    close: async () => {
      closing = true
      if (connection.isClosed()) return
      // A drain waits for the server's answer, which may never come.
      const givenUp = setTimeout(() => void connection.close(), DRAIN_TIMEOUT_MS)
      await (connected ? connection.drain() : connection.close())
      clearTimeout(givenUp)
    },
  }
}

function connectionOptions(options: NatsOptions): ConnectionOptions {
  const addresses = options.urls.map(parseAddress)
  if (addresses.length === 0) throw new Error('no NATS address is configured')
  const login = addresses.find(({ user }) => user !== '')
  const tls = { ...options.tls, checkServerIdentity: identityCheckFor(addresses.map(({ hostname }) => hostname)) }
  return {
    servers: addresses.map(({ host }) => host),
    name: options.name,
    inboxPrefix: options.inboxPrefix,
    timeout: CONNECT_TIMEOUT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    reconnectJitter: RECONNECT_JITTER_MS,
    reconnectJitterTLS: RECONNECT_JITTER_MS,
    waitOnFirstConnect: true,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: PINGS_UNANSWERED,
    noAsyncTraces: true,
    ...(options.tls !== undefined || addresses.some(({ secure }) => secure) ? { tls } : {}),
    ...(options.credentialsFile !== undefined
      ? { authenticator: fileAuthenticator(options.credentialsFile) }
      : credentials(login)),
  }
}

interface Address {
  /** `host:port`, nothing else. */
  readonly host: string
  readonly hostname: string
  readonly secure: boolean
  readonly user: string
  readonly password: string
}

const DEFAULT_PORT = 4222

function parseAddress(text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : undefined
  // The error of the parser would quote the address, password and all.
  if (url === undefined || !['nats:', 'tls:'].includes(url.protocol) || url.hostname === '') {
    throw new Error('a NATS address must look like nats://host:port or tls://host:port')
  }
  return {
    host: `${url.hostname}:${url.port === '' ? DEFAULT_PORT : url.port}`,
    hostname: url.hostname,
    secure: url.protocol === 'tls:',
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
  }
}

/** A user without a password is a token, as in every NATS tool. */
function credentials(address: Address | undefined): Pick<ConnectionOptions, 'user' | 'pass' | 'token'> {
  if (address === undefined) return {}
  return address.password === '' ? { token: address.user } : { user: address.user, pass: address.password }
}

function fileAuthenticator(path: string): Authenticator {
  const content = readFileSync(path)
  if (content.includes('BEGIN NATS USER JWT')) return credsAuthenticator(content)
  const seed = content.toString('latin1').trim()
  if (/^SU[A-Z2-7]{56}$/.test(seed)) return nkeyAuthenticator(Buffer.from(seed))
  throw new Error('the NATS credentials file holds neither a user JWT with its seed nor an nkey seed of a user')
}
