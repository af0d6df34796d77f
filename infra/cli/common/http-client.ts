/**
 * An authenticated HTTP client of a running ledger.
 *   W1. The secret is sent to the given address only: redirects are refused.
 *   W2. An access token is reused for most of its life. After a 401 the request is repeated once with a new token.
 */
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import { CommandFailed } from './command.ts'
import { isJsonObject, jsonObjectOf } from './given-file.ts'
import { shownText } from './shown-text.ts'

export interface SentRequest {
  /** Sent as JSON. */
  readonly body?: object | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export interface HttpClient {
  /** Returns any HTTP response. Throws LedgerUnreachable and CommandFailed. */
  readonly send: (method: 'GET' | 'POST', path: string, request?: SentRequest) => Promise<Response>
  /** The same, and reads the response, within a minute. */
  readonly request: (method: 'GET' | 'POST', path: string, body?: object) => Promise<HttpReply>
}

export interface HttpReply {
  readonly status: number
  /** Empty if the response was not a JSON object. */
  readonly body: JsonObject
  /** Seconds of the header Retry-After; null without it. */
  readonly retryAfterS: number | null
}

/** The response is missing or incomplete: the outcome of the request is unknown. */
export class LedgerUnreachable extends CommandFailed {}

/** The ledger responds, but issues no access token yet. */
export class LedgerNotReady extends LedgerUnreachable {}

const REPLY_TIMEOUT_MS = 60_000
/** Part of a token's life in which it is used. The life began before the token arrived. */
const USED_LIFE = 0.8
const UNAUTHORIZED = 401
const OK = 200
const UNAVAILABLE = 503

/** `base`: without a slash at the end. */
export function createHttpClient(base: string, clientId: string, secret: string): HttpClient {
  let cached: { readonly token: string; readonly untilMs: number } | undefined

  const accessToken = async (): Promise<string> => {
    if (cached !== undefined && performance.now() < cached.untilMs) return cached.token
    const sentAtMs = performance.now()
    const signal = AbortSignal.timeout(REPLY_TIMEOUT_MS)
    const response = await fetchFrom(base, '/v1/auth/token', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_id: clientId, client_secret: secret }),
      signal,
    })
    const reply = await readReply(response)
    if (reply.status === UNAVAILABLE) {
      throw new LedgerNotReady(`the ledger at ${base} issues no access token yet: ${problemText(reply)}`)
    }
    const { access_token: token, expires_in: lifeS } = reply.body
    if (reply.status !== OK || typeof token !== 'string' || typeof lifeS !== 'number') {
      throw new CommandFailed(`the ledger refused an access token to client ${clientId}: ${problemText(reply)}`)
    }
    cached = { token, untilMs: sentAtMs + lifeS * 1_000 * USED_LIFE }
    return token
  }

  const send: HttpClient['send'] = async (method, path, { body, headers, signal } = {}) => {
    for (let attempt = 1; ; attempt += 1) {
      const token = await accessToken()
      const response = await fetchFrom(base, path, {
        method,
        headers: {
          ...headers,
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      })
      if (response.status !== UNAUTHORIZED || attempt > 1) return response
      await response.body?.cancel()
      cached = undefined
    }
  }

  return {
    send,
    request: async (method, path, body) =>
      readReply(await send(method, path, { body, signal: AbortSignal.timeout(REPLY_TIMEOUT_MS) })),
  }
}

/** Throws LedgerUnreachable if the response is cut off. */
export async function readReply(response: Response): Promise<HttpReply> {
  let text: string
  try {
    text = await response.text()
  } catch (cause) {
    throw new LedgerUnreachable('the response of the ledger was cut off', { cause })
  }
  const after = Number(response.headers.get('retry-after') ?? Number.NaN)
  return {
    status: response.status,
    body: jsonObjectOf(text) ?? {},
    retryAfterS: Number.isFinite(after) ? after : null,
  }
}

/** Status, title and detail of problem details, and the fields that they name, one a line. */
export function problemText({ status, body }: HttpReply): string {
  const { title, detail, errors } = body
  const fields = Array.isArray(errors) ? errors.flatMap((error: Json) => fieldText(error)) : []
  const head = [String(status), ...(typeof title === 'string' ? [title] : [])].join(' ')
  const first = typeof detail === 'string' ? `${head}: ${detail}` : head
  return [first, ...fields.map((field) => `  ${field}`)].map(shownText).join('\n')
}

function fieldText(error: Json): readonly string[] {
  if (!isJsonObject(error)) return []
  const { field, message } = error
  return typeof field === 'string' && typeof message === 'string' ? [`${field}: ${message}`] : []
}

async function fetchFrom(base: string, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(`${base}${path}`, { ...init, redirect: 'error' })
  } catch (cause) {
    throw new LedgerUnreachable(`the ledger at ${base} does not respond${reasonIn(cause)}`, { cause })
  }
}

/** `fetch` keeps the reason in the cause of its error. */
function reasonIn(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (!(cause instanceof Error)) return ''
  if (cause.message === 'unexpected redirect') return ': it redirects to another address, which must not get the secret'
  const code = 'code' in cause ? cause.code : undefined
  if (code === 'ECONNREFUSED') return ': the connection was refused'
  return code === 'ENOTFOUND' || code === 'EAI_AGAIN' ? ': the host name is unknown' : ''
}
