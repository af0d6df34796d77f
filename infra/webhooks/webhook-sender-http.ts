/**
 * Sends messages over HTTP. Invariants S1 to S3 of the port, and:
 *   S4. Addresses are checked in the look-up of the connection itself: a name cannot have another address when it is
 *       connected to than when it was checked. If one of the addresses of a name is refused, the name is. A host that is
 *       an address needs no look-up, and is checked before.
 *   S5. At most MAX_BODY_BYTES of a response are read, and nothing of it is kept. A response that is longer or slower ends
 *       the connection.
 *   S6. No proxy is used, whatever the environment says.
 */
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
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

type Agents = HttpAgent | HttpsAgent

export function createWebhookSender(options: WebhookSenderOptions): HttpWebhookSender {
  const { mayConnect, now, timeoutMs = TIMEOUT_MS } = options
  const lookup = checkedLookup(mayConnect, options.resolve ?? createNameResolver())
  const agents = new Map<string, Agents>()

  function agentOf({ connection }: WebhookTarget, { protocol }: URL): Agents {
    const settings = { keepAlive: true, maxSockets: 1, maxFreeSockets: 1 }
    const agent = agents.get(connection) ?? (protocol === 'http:' ? new HttpAgent(settings) : new HttpsAgent(settings))
    agents.set(connection, agent)
    return agent
  }

  const mayConnectTo = (hostname: string): boolean => {
    const literal = hostname.replace(/^\[|\]$/g, '')
    return isIP(literal) === 0 || mayConnect(literal)
  }

  return {
    mayConnect: mayConnectTo,
    async send(target, message) {
      const startedAt = performance.now()
      const url = new URL(target.url)
      const result = (attempt: Outcome): AttemptResult => ({
        ...attempt,
        latencyMs: Math.round(performance.now() - startedAt),
      })
      if (!mayConnectTo(url.hostname)) return result({ httpStatus: null, error: 'address_refused' })
      const post = { url, agent: agentOf(target, url), lookup, headers: headersOf(target, message, now()), message }
      const signal = AbortSignal.timeout(timeoutMs)
      const first = await attempt(post, signal)
      // The receiver closed a kept connection as the message was sent: that is no failure of the receiver.
      const last = first === 'connection_was_closed' ? await attempt(post, signal) : first
      return result(last === 'connection_was_closed' ? { httpStatus: null, error: 'connection_failed' } : last)
    },
    forget(connection) {
      agents.get(connection)?.destroy()
      agents.delete(connection)
    },
    close() {
      for (const agent of agents.values()) agent.destroy()
      agents.clear()
    },
  }
}

type Outcome = Omit<AttemptResult, 'latencyMs'>

interface Post {
  readonly url: URL
  readonly agent: Agents
  readonly lookup: LookupFunction
  readonly headers: Readonly<Record<string, string>>
  readonly message: WebhookMessage
}

function headersOf({ secrets }: WebhookTarget, message: WebhookMessage, nowMs: number): Post['headers'] {
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

/** Resolves once the response has been read as far as it is read. Never rejects. */
function attempt(
  { url, agent, lookup, headers, message }: Post,
  signal: AbortSignal,
): Promise<Outcome | 'connection_was_closed'> {
  return new Promise((resolve) => {
    const send = url.protocol === 'http:' ? httpRequest : httpsRequest
    const sent = send(url, { method: 'POST', agent, lookup, headers, signal, maxHeaderSize: MAX_HEADER_BYTES })
    let outcome: Outcome | undefined
    sent.on('response', (response) => {
      const received = outcomeOf(response.statusCode ?? 0)
      outcome = received
      readBody(response, () => resolve(received))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (outcome !== undefined) return resolve(outcome)
      const wasClosed = sent.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
      resolve(wasClosed ? 'connection_was_closed' : { httpStatus: null, error: errorOf(error, signal) })
    })
    // A change of protocol (101) is neither a response nor an error.
    sent.on('close', () => resolve(outcome ?? { httpStatus: null, error: 'connection_failed' }))
    sent.end(message.body)
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

function errorOf(error: NodeJS.ErrnoException, signal: AbortSignal): AttemptError {
  if (signal.aborted) return 'timeout'
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
