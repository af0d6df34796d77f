/**
 * One connection to NATS that reconnects for ever. The client's defaults would give up after 10 attempts, notice a dead link
 * after minutes, and build a stack trace for every request.
 *   C1. Credentials come from the address or a file. They appear in no log line and no error.
 *   C2. `connected()` may lag behind the state of the link. While it is false, callers must not publish: the client would
 *       either drop the message or send it later.
 *   C3. `closed` resolves when the connection is closed for good, so that the process can end.
 *   C4. The first connection refuses a server whose maximum payload is below the largest item of the ledger. After a
 *       reconnect such a server is logged.
 *   C5. A server that is reached by an IP address must have a certificate for one of the configured addresses. The client
 *       passes only host names to TLS, which would otherwise accept any certificate for `localhost`.
 */
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
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

export interface NatsOptions {
  /** `nats://` or `tls://`, with optional `user:password@` or `token@`. All servers get the first credentials. */
  readonly urls: readonly string[]
  /** File with a user's JWT and seed (`.creds`) or an nkey seed. Overrides the credentials of the addresses. */
  readonly credentialsFile?: string
  /** PEM files. With them, or with a `tls://` address, TLS is required. */
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string }
  /** Appears in the server's monitoring. */
  readonly name: string
  /** Subject prefix of replies. Each role has its own, so that it cannot read the replies of another role. */
  readonly inboxPrefix: string
  readonly log: Log
}

export interface NatsLink {
  readonly connection: NatsConnection
  readonly inboxPrefix: string
  readonly connected: () => boolean
  /** Calls back after every reconnect, until the returned function is called. */
  readonly onReconnect: (run: () => void) => () => void
  /** Resolves when the connection is closed for good: with the reason, or with null after `close`. */
  readonly closed: Promise<string | null>
  /** Drains subscriptions, flushes messages, and closes. */
  readonly close: () => Promise<void>
}

const CONNECT_TIMEOUT_MS = 5000
const RECONNECT_WAIT_MS = 250
const RECONNECT_JITTER_MS = 250
const PING_INTERVAL_MS = 3000
const PINGS_UNANSWERED = 2
const DRAIN_TIMEOUT_MS = 5000
/**
 * The largest item or reply. The bounded parts of a body (metadata, public key, signatures, names) take less than 64 KiB. The
 * rest is for the client's grants: 3,000 token IDs and more.
 */
const MIN_MAX_PAYLOAD_BYTES = 262_144
/** Interval of log lines while the first connection fails. */
const WAITING_LOG_MS = 10_000

/** Waits for a server. Rejects only for wrong settings or credentials, and for C4. */
export async function connectNats(options: NatsOptions): Promise<NatsLink> {
  const { name, log } = options
  const settings = connectionOptions(options)
  const waiting = setInterval(() => log.warn('nats_not_reached', { name }), WAITING_LOG_MS)
  let connection: NatsConnection
  try {
    connection = await connect(settings)
  } catch (cause) {
    // The codes and server addresses in the client's errors contain no credentials.
    throw new Error(`NATS refused the connection: ${cause instanceof NatsError ? cause.code : 'failed'}`, { cause })
  } finally {
    clearInterval(waiting)
  }
  const tooSmall = payloadFault(connection)
  if (tooSmall === undefined) return linkOf(connection, options)
  await connection.close()
  throw new Error(tooSmall)
}

/** C4. Undefined if the connected server's maximum payload suffices. */
function payloadFault({ info }: NatsConnection): string | undefined {
  const maxPayload = info?.max_payload
  if (maxPayload === undefined || maxPayload >= MIN_MAX_PAYLOAD_BYTES) return undefined
  return (
    `the max_payload of this NATS server is ${maxPayload} bytes, but the ledger needs ${MIN_MAX_PAYLOAD_BYTES}: ` +
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
        if (tooSmall !== undefined) log.error('nats_max_payload_too_small', { name, reason: tooSmall })
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
      // The server may never confirm the drain.
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
  // The parser's error would quote the address with its password.
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

/** A user without a password is a token, by the convention of NATS tools. */
function credentials(address: Address | undefined): Pick<ConnectionOptions, 'user' | 'pass' | 'token'> {
  if (address === undefined) return {}
  return address.password === '' ? { token: address.user } : { user: address.user, pass: address.password }
}

function fileAuthenticator(path: string): Authenticator {
  const content = readFileSync(path)
  if (content.includes('BEGIN NATS USER JWT')) return credsAuthenticator(content)
  const seed = content.toString('latin1').trim()
  if (/^SU[A-Z2-7]{56}$/.test(seed)) return nkeyAuthenticator(Buffer.from(seed))
  throw new Error('the NATS credentials file has neither a user JWT with its seed nor an nkey seed of a user')
}

/** C5, for `tls.connect`. `hosts`: of all servers, as in a URL, without ports. */
function identityCheckFor(hosts: readonly string[]): (name: string, certificate: PeerCertificate) => Error | undefined {
  // A URL has brackets around an IPv6 address.
  const addresses = hosts.map((host) => host.replace(/^\[(.*)\]$/, '$1')).filter((host) => isIP(host) !== 0)
  return (name, certificate) => {
    if (addresses.length === 0 || hosts.includes(name)) return checkServerIdentity(name, certificate)
    const faults = addresses.map((address) => checkServerIdentity(address, certificate))
    return faults.includes(undefined) ? undefined : faults[0]
  }
}
