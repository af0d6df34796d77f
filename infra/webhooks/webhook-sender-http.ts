/**
 * Sends messages over HTTP. Invariants S1 to S3 of the port, and:
 *   S4. Addresses are checked in the look-up of the connection itself: a name cannot have another address when it is
 *       connected to than when it was checked. If one of the addresses of a name is refused, the name is. A host that is
 *       an address needs no look-up, and is checked before.
 *   S5. At most MAX_BODY_BYTES of a response, and MAX_INFORMATIONAL responses before it, are read, and nothing of them is
 *       kept. A response that is longer or slower ends the connection.
 *   S6. No proxy is used, whatever the environment says.
 */
import { isIP, type LookupFunction, Socket } from 'node:net'
import { buildConnector, Client, type Dispatcher } from 'undici'
import type { WebhookMessage, WebhookSender, WebhookTarget } from '../../runtime/ports/webhook-sender.ts'
import type { AttemptError, AttemptResult } from '../../runtime/ports/webhook-store.ts'
import type { AddressRule } from './address-rules.ts'
import { signaturesOf } from './message-signature.ts'
import { createNameResolver, type Resolve } from './name-resolver.ts'

export interface HttpWebhookSender extends WebhookSender {
  readonly close: () => void
}

export interface WebhookSenderOptions {
  readonly mayConnect: AddressRule
  /** Wall clock, milliseconds since 1970. */
  readonly now: () => number
  readonly timeoutMs?: number
  /** Resolves names. */
  readonly resolve?: Resolve
}

const TIMEOUT_MS = 10_000
const MAX_BODY_BYTES = 4_096
const MAX_HEADER_BYTES = 16_384
/** Responses before the final one, such as 103. */
const MAX_INFORMATIONAL = 8
const LEAST_SUCCESS = 200
const LEAST_REDIRECT = 300
const MS_PER_SECOND = 1_000
const REFUSED_CODE = 'ERR_ADDRESS_REFUSED'
/** Of a connection that ended without a response. */
const CLOSED_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
/** How long a connection without messages is kept, if the receiver sets no shorter time. */
const KEPT_MS = 60_000

type Outcome = Omit<AttemptResult, 'latencyMs'>

const FAILED: Outcome = { httpStatus: null, error: 'connection_failed' }

/** A connection, which is kept between messages and carries one at a time. */
interface Channel {
  readonly url: string
  readonly client: Client
  readonly path: string
  readonly isRefused: boolean
  /** Whether a response has come over the connection that is open. */
  wasUsed: boolean
  /** The connection whose handshake is under way, or failed. */
  connecting: Socket | undefined
}

type Headers = Readonly<Record<string, string>>

export function createWebhookSender(options: WebhookSenderOptions): HttpWebhookSender {
  const { mayConnect, now, timeoutMs = TIMEOUT_MS } = options
  const lookup = checkedLookup(mayConnect, options.resolve ?? createNameResolver())
  const channels = new Map<string, Channel>()

  const mayConnectTo = (hostname: string): boolean => {
    const literal = hostname.replace(/^\[|\]$/g, '')
    return isIP(literal) === 0 || mayConnect(literal)
  }

  function channelOf({ connection, url }: WebhookTarget): Channel {
    const known = channels.get(connection)
    if (known?.url === url) return known
    if (known !== undefined) close(known)
    const channel = openChannel(url, lookup, mayConnectTo)
    channels.set(connection, channel)
    return channel
  }

  return {
    mayConnect: mayConnectTo,
    async send(target, message, onWritten) {
      const startedAt = performance.now()
      const channel = channelOf(target)
      const result = (attempt: Outcome): AttemptResult => ({
        ...attempt,
        latencyMs: Math.round(performance.now() - startedAt),
      })
      if (channel.isRefused) return result({ httpStatus: null, error: 'address_refused' })
      const headers = headersOf(target, message, now())
      const post = { channel, headers, body: message.body, onWritten }
      const deadline = setTimeout(() => close(channel, new DeadlineOver()), timeoutMs)
      try {
        const outcome = await attempt(post)
        // The receiver closed a kept connection as the message was sent: that is no failure of the receiver.
        if (outcome !== 'connection_was_closed') return result(outcome)
        const again = await attempt(post)
        return result(again === 'connection_was_closed' ? FAILED : again)
      } finally {
        clearTimeout(deadline)
        if (channel.client.destroyed && channels.get(target.connection) === channel) channels.delete(target.connection)
      }
    },
    forget(connection) {
      const channel = channels.get(connection)
      if (channel !== undefined) close(channel)
      channels.delete(connection)
    },
    close() {
      for (const channel of channels.values()) close(channel)
      channels.clear()
    },
  }
}

function openChannel(text: string, lookup: LookupFunction, mayConnectTo: (hostname: string) => boolean): Channel {
  const { origin, hostname, pathname, search } = new URL(text)
  const connect = buildConnector({ lookup, timeout: 0 })
  const client = new Client(origin, {
    connect: (options, done) => {
      const socket: unknown = connect(options, done)
      channel.connecting = socket instanceof Socket ? socket : undefined
    },
    // The deadline ends what takes too long.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEPT_MS,
    keepAliveMaxTimeout: KEPT_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  })
  const channel: Channel = {
    url: text,
    client,
    path: `${pathname}${search}`,
    isRefused: !mayConnectTo(hostname),
    wasUsed: false,
    connecting: undefined,
  }
  client.on('connect', () => {
    channel.wasUsed = false
    channel.connecting = undefined
  })
  return channel
}

function close({ client, connecting }: Channel, error: Error | null = null): void {
  void client.destroy(error)
  // The client knows a connection only once its handshake has ended.
  connecting?.destroy(error ?? undefined)
}

function headersOf({ secrets }: WebhookTarget, message: WebhookMessage, nowMs: number): Headers {
  const timestampS = Math.floor(nowMs / MS_PER_SECOND)
  return {
    'content-type': 'application/cloudevents+json; charset=utf-8',
    'user-agent': 'ledger-webhooks',
    'webhook-id': message.id,
    'webhook-timestamp': String(timestampS),
    'webhook-signature': signaturesOf(message, timestampS, secrets),
  }
}

interface Post {
  readonly channel: Channel
  readonly headers: Headers
  readonly body: string
  readonly onWritten: (() => void) | undefined
}

/** Resolves once the response has been read as far as it is read. Never rejects. */
function attempt({ channel, headers, body, onWritten }: Post): Promise<Outcome | 'connection_was_closed'> {
  const { client, path } = channel
  return new Promise((resolve) => {
    let outcome: Outcome | undefined
    let wasUsed = false
    let bytes = 0
    let informational = 0
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart() {
        ;({ wasUsed } = channel)
        // The message is written after this call and before the next microtask.
        if (onWritten !== undefined) queueMicrotask(onWritten)
      },
      onResponseStart(controller, statusCode) {
        channel.wasUsed = true
        if (statusCode >= LEAST_SUCCESS) outcome = outcomeOf(statusCode)
        else if ((informational += 1) > MAX_INFORMATIONAL) controller.abort(new ResponseTooLong())
      },
      /** S5. */
      onResponseData(controller, chunk) {
        bytes += chunk.length
        if (bytes > MAX_BODY_BYTES) controller.abort(new ResponseTooLong())
      },
      onResponseEnd: () => resolve(outcome ?? FAILED),
      /** The status of a response counts although the rest was lost. */
      onResponseError(_, error) {
        const wasClosed = wasUsed && CLOSED_CODES.has(codeOf(error))
        resolve(outcome ?? (wasClosed ? 'connection_was_closed' : { httpStatus: null, error: errorOf(error) }))
      },
    }
    client.dispatch({ path, method: 'POST', headers, body }, handler)
  })
}

function outcomeOf(httpStatus: number): Outcome {
  const accepted = httpStatus >= LEAST_SUCCESS && httpStatus < LEAST_REDIRECT
  return { httpStatus, error: accepted ? null : 'status' }
}

function errorOf(error: Error): AttemptError {
  if (error instanceof DeadlineOver) return 'timeout'
  const code = codeOf(error)
  if (code === REFUSED_CODE) return 'address_refused'
  if (code === 'ENOTFOUND' || code.startsWith('EAI_')) return 'name_not_resolved'
  return isTlsCode(code) ? 'tls_failed' : 'connection_failed'
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** OpenSSL's codes of refused certificates have no common form. */
function isTlsCode(code: string): boolean {
  return /^ERR_(TLS|SSL)|^EPROTO$|CERT|SIGNATURE|ISSUER|CRL|HOSTNAME_MISMATCH|^INVALID_(CA|PURPOSE)/.test(code)
}

class DeadlineOver extends Error {}

class ResponseTooLong extends Error {}

class AddressRefused extends Error {
  readonly code = REFUSED_CODE
}

/** S4. */
function checkedLookup(mayConnect: AddressRule, resolve: Resolve): LookupFunction {
  return (hostname, { family, all }, done) => {
    const wanted = family === 4 || family === 6 ? family : 0
    resolve(hostname, { all: true, family: wanted }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error !== null || first === undefined) return done(error ?? new AddressRefused(), '', 0)
      if (addresses.some(({ address }) => !mayConnect(address))) return done(new AddressRefused(), '', 0)
      if (all === true) done(null, addresses)
      else done(null, first.address, first.family)
    })
  }
}
