/**
 * What commands ask a running ledger through its interface, as one of its clients.
 *   W1. The secret goes to the address that was given and nowhere else: redirects are refused. It is read from a file, so that
 *       it stands in no list of processes.
 *   W2. An access token is kept for most of its life; one that is no longer good is replaced once for a request.
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import { parseStrictJson } from '../../../api/http/json-text.ts'
import { CommandFailed, required, UsageError, type CommandIo } from './command.ts'

/** As `readArgs` takes them. */
export const CLIENT_OPTIONS = {
  url: { type: 'string' },
  client: { type: 'string' },
  'secret-file': { type: 'string' },
} as const

export const CLIENT_HELP = `  --url URL            where the ledger is, as http://127.0.0.1:8080
  --client ID          the client that asks
  --secret-file FILE   its secret: alone, or as ledger client add printed it, or as .ledger/clients.json has it`

export interface ClientValues {
  readonly url?: string | undefined
  readonly client?: string | undefined
  readonly 'secret-file'?: string | undefined
}

export interface HttpClient {
  /** `body`: sent as JSON. The response as it comes, of whatever status. Throws LedgerUnreachable, CommandFailed. */
  readonly send: (method: 'GET' | 'POST', path: string, body?: object, signal?: AbortSignal) => Promise<Response>
  /** The same with the answer read, within a minute. */
  readonly ask: (method: 'GET' | 'POST', path: string, body?: object) => Promise<HttpAnswer>
}

export interface HttpAnswer {
  readonly status: number
  /** Empty where the answer was no JSON object. */
  readonly body: JsonObject
  /** Seconds after which to ask again; null: nothing is said. */
  readonly retryAfterS: number | null
}

/** There was no answer, or half of one: what became of the request is not known. */
export class LedgerUnreachable extends CommandFailed {}

/** It is there, and gives no access token yet. */
export class LedgerNotReady extends LedgerUnreachable {}

const ANSWER_TIMEOUT_MS = 60_000
/** A token is used for this part of its life, which began before it arrived. */
const USED_LIFE = 0.8
const UNAUTHORIZED = 401
const OK = 200
const UNAVAILABLE = 503

/** Throws UsageError and CommandFailed. Asks nothing yet. */
export function openHttpClient(values: ClientValues, io: CommandIo): HttpClient {
  const base = baseOf(required(values.url, 'url'), io)
  const clientId = required(values.client, 'client')
  const secret = readSecret(required(values['secret-file'], 'secret-file'), clientId, io)
  return createHttpClient(base, clientId, secret)
}

/** `base`: without a slash at the end. */
export function createHttpClient(base: string, clientId: string, secret: string): HttpClient {
  let held: { readonly token: string; readonly untilMs: number } | undefined

  const tokenOf = async (): Promise<string> => {
    if (held !== undefined && performance.now() < held.untilMs) return held.token
    const askedAtMs = performance.now()
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS)
    const response = await fetchFrom(base, '/v1/auth/token', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_id: clientId, client_secret: secret }),
      signal,
    })
    const answer = await readAnswer(response)
    if (answer.status === UNAVAILABLE) {
      throw new LedgerNotReady(`the ledger at ${base} gives no access token yet: ${problemText(answer)}`)
    }
    const { access_token: token, expires_in: lifeS } = answer.body
    if (answer.status !== OK || typeof token !== 'string' || typeof lifeS !== 'number') {
      throw new CommandFailed(`the ledger gave client ${clientId} no access token: ${problemText(answer)}`)
    }
    held = { token, untilMs: askedAtMs + lifeS * 1_000 * USED_LIFE }
    return token
  }

  const send: HttpClient['send'] = async (method, path, body, signal) => {
    for (let attempt = 1; ; attempt += 1) {
      const token = await tokenOf()
      const response = await fetchFrom(base, path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      })
      if (response.status !== UNAUTHORIZED || attempt > 1) return response
      await response.body?.cancel()
      held = undefined
    }
  }

  return {
    send,
    ask: async (method, path, body) =>
      readAnswer(await send(method, path, body, AbortSignal.timeout(ANSWER_TIMEOUT_MS))),
  }
}

/** Throws LedgerUnreachable when it ends before it is whole. */
export async function readAnswer(response: Response): Promise<HttpAnswer> {
  let text: string
  try {
    text = await response.text()
  } catch (cause) {
    throw new LedgerUnreachable('the answer of the ledger broke off', { cause })
  }
  const parsed = parseStrictJson(text)
  const after = Number(response.headers.get('retry-after') ?? Number.NaN)
  return {
    status: response.status,
    body: parsed.ok && isObject(parsed.value) ? parsed.value : {},
    retryAfterS: Number.isFinite(after) ? after : null,
  }
}

/** What a problem says, for whoever called the command: status, detail and the fields it names. */
export function problemText({ status, body }: HttpAnswer): string {
  const { title, detail, errors } = body
  const fields = Array.isArray(errors) ? errors.flatMap((error: Json) => fieldText(error)) : []
  const head = [String(status), ...(typeof title === 'string' ? [title] : [])].join(' ')
  const said = typeof detail === 'string' ? `${head}: ${detail}` : head
  return [said, ...fields.map((field) => `  ${field}`)].join('\n')
}

function fieldText(error: Json): readonly string[] {
  if (!isObject(error)) return []
  const { field, message } = error
  return typeof field === 'string' && typeof message === 'string' ? [`${field}: ${message}`] : []
}

async function fetchFrom(base: string, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(`${base}${path}`, { ...init, redirect: 'error' })
  } catch (cause) {
    throw new LedgerUnreachable(`the ledger at ${base} does not answer${whyOf(cause)}`, { cause })
  }
}

/** What `fetch` keeps behind its error. */
function whyOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (!(cause instanceof Error)) return ''
  if (cause.message === 'unexpected redirect') return ': it sends to another address, which gets no secret'
  const code = 'code' in cause ? cause.code : undefined
  if (code === 'ECONNREFUSED') return ': nobody listens there'
  return code === 'ENOTFOUND' || code === 'EAI_AGAIN' ? ': its name is not known' : ''
}

function baseOf(text: string, io: CommandIo): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new UsageError('--url must be an http or https URL, without a query')
  }
  if (/\/v1\/*$/.test(url.pathname)) throw new UsageError('--url is the address without /v1')
  if (url.username !== '' || url.password !== '') throw new UsageError('--url must be without credentials')
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    io.err('warning: the secret goes over the network in plain: use https\n')
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
}

function readSecret(path: string, clientId: string, io: CommandIo): string {
  let text: string
  try {
    text = readFileSync(resolve(io.cwd, path), 'utf8').trim()
  } catch (cause) {
    throw new CommandFailed(`${path} cannot be read`, { cause })
  }
  const secret = text.startsWith('{') || text.startsWith('[') ? secretIn(text, clientId) : text
  if (secret === undefined || secret === '') throw new CommandFailed(`${path} holds no secret of client ${clientId}`)
  return secret
}

function secretIn(text: string, clientId: string): string | undefined {
  const parsed = parseStrictJson(text)
  if (!parsed.ok) return undefined
  const clients: readonly Json[] = Array.isArray(parsed.value) ? parsed.value : [parsed.value]
  for (const client of clients) {
    if (!isObject(client) || client['client_id'] !== clientId) continue
    const { client_secret: secret } = client
    return typeof secret === 'string' ? secret : undefined
  }
  return undefined
}

function isObject(value: Json): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
