/**
 * Sends messages over HTTP. Invariants S1 to S3 of the port, and:
 *   S4. Addresses are checked in the look-up of the connection itself: a name cannot have another address when it is
 *       connected to than when it was checked. If one of the addresses of a name is refused, the name is. A host that is
 *       an address needs no look-up, and is checked before.
 *   S5. At most MAX_BODY_BYTES of a response are read, and nothing of it is kept. A response that is longer or slower ends
 *       the connection.
 *   S6. No proxy is used, whatever the environment says.
 */
import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
  type RequestOptions,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { urlToHttpOptions } from 'node:url'
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
const LEAST_SUCCESS = 200
const LEAST_REDIRECT = 300
const MS_PER_SECOND = 1_000
const REFUSED_CODE = 'ERR_ADDRESS_REFUSED'

type Outcome = Omit<AttemptResult, 'latencyMs'>

/** A connection, and the options that its requests share. */
interface Channel {
  readonly url: string
  readonly agent: HttpAgent | HttpsAgent
  readonly isRefused: boolean
  readonly begin: (headers: Headers) => ClientRequest
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
    known?.agent.destroy()
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
      const deadline = new Deadline(timeoutMs)
      const post = { channel, headers, body: message.body, deadline, onWritten }
      let last: Awaited<ReturnType<typeof attempt>>
      try {
        last = await attempt(post)
        // The receiver closed a kept connection as the message was sent: that is no failure of the receiver.
        if (last === 'connection_was_closed') last = await attempt(post)
      } finally {
        deadline.stop()
      }
      return result(last === 'connection_was_closed' ? { httpStatus: null, error: 'connection_failed' } : last)
    },
    forget(connection) {
      channels.get(connection)?.agent.destroy()
      channels.delete(connection)
    },
    close() {
      for (const { agent } of channels.values()) agent.destroy()
      channels.clear()
    },
  }
}

function openChannel(text: string, lookup: LookupFunction, mayConnectTo: (hostname: string) => boolean): Channel {
  const url = new URL(text)
  const settings = { keepAlive: true, maxSockets: 1, maxFreeSockets: 1 }
  const isPlain = url.protocol === 'http:'
  const agent = isPlain ? new HttpAgent(settings) : new HttpsAgent(settings)
  const request = isPlain ? httpRequest : httpsRequest
  const common: RequestOptions = {
    ...urlToHttpOptions(url),
    method: 'POST',
    agent,
    lookup,
    maxHeaderSize: MAX_HEADER_BYTES,
  }
  return {
    url: text,
    agent,
    isRefused: !mayConnectTo(url.hostname),
    begin: (headers) => request({ ...common, headers }),
  }
}

function headersOf({ secrets }: WebhookTarget, message: WebhookMessage, nowMs: number): Headers {
  const timestampS = Math.floor(nowMs / MS_PER_SECOND)
  return {
    'content-type': 'application/cloudevents+json; charset=utf-8',
    'content-length': String(Buffer.byteLength(message.body)),
    'user-agent': 'ledger-webhooks',
    'webhook-id': message.id,
    'webhook-timestamp': String(timestampS),
    'webhook-signature': signaturesOf(message, timestampS, secrets),
  }
}

/** Ends the running request when its time is over. An abort signal with its listeners would cost several times as much. */
class Deadline {
  isOver = false
  private request: ClientRequest | undefined
  private readonly timer: NodeJS.Timeout

  constructor(timeoutMs: number) {
    this.timer = setTimeout(() => {
      this.isOver = true
      this.request?.destroy()
    }, timeoutMs)
  }

  watch(request: ClientRequest): void {
    this.request = request
    if (this.isOver) request.destroy()
  }

  stop(): void {
    clearTimeout(this.timer)
  }
}

interface Post {
  readonly channel: Channel
  readonly headers: Headers
  readonly body: string
  readonly deadline: Deadline
  readonly onWritten: (() => void) | undefined
}

/** Resolves once the response has been read as far as it is read. Never rejects. */
function attempt({ channel, headers, body, deadline, onWritten }: Post): Promise<Outcome | 'connection_was_closed'> {
  return new Promise((resolve) => {
    const sent = channel.begin(headers)
    let outcome: Outcome | undefined
    sent.on('response', (response) => {
      const received = outcomeOf(response.statusCode ?? 0)
      outcome = received
      readBody(response, () => resolve(received))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (outcome !== undefined) return resolve(outcome)
      const isClosed = error.code === 'ECONNRESET' || error.code === 'EPIPE'
      const wasClosed = sent.reusedSocket && isClosed && !deadline.isOver
      resolve(wasClosed ? 'connection_was_closed' : { httpStatus: null, error: errorOf(error, deadline) })
    })
    // A change of protocol (101) is neither a response nor an error.
    sent.on('close', () => resolve(outcome ?? { httpStatus: null, error: 'connection_failed' }))
    deadline.watch(sent)
    if (onWritten === undefined) sent.end(body)
    else sent.end(body, onWritten)
  })
}

function outcomeOf(httpStatus: number): Outcome {
  const accepted = httpStatus >= LEAST_SUCCESS && httpStatus < LEAST_REDIRECT
  return { httpStatus, error: accepted ? null : 'status' }
}

/** S5. Calls back once, also if the connection is lost: the status has arrived by then. */
function readBody(response: IncomingMessage, done: () => void): void {
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES) response.destroy()
  })
  response.on('error', () => undefined)
  response.on('close', done)
}

function errorOf(error: NodeJS.ErrnoException, deadline: Deadline): AttemptError {
  if (deadline.isOver) return 'timeout'
  const { code = '' } = error
  if (code === REFUSED_CODE) return 'address_refused'
  if (code === 'ENOTFOUND' || code.startsWith('EAI_')) return 'name_not_resolved'
  return isTlsCode(code) ? 'tls_failed' : 'connection_failed'
}

/** OpenSSL's codes of refused certificates have no common form. */
function isTlsCode(code: string): boolean {
  return /^ERR_(TLS|SSL)|^EPROTO$|CERT|SIGNATURE|ISSUER|CRL|HOSTNAME_MISMATCH|^INVALID_(CA|PURPOSE)/.test(code)
}

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
