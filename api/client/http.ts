/**
 * Sends requests to the ledger.
 *   H1. A request that failed without a verdict is sent again with the same bytes and the same key, if it takes effect at
 *       most once, with exponential back-off and jitter, and not before `Retry-After`. So is one that the ledger did not
 *       take for a reason that passes (408, 425, 429). A longer `Retry-After` than 60 s ends the attempts. Credentials are
 *       not sent again after a 4xx that is not the ledger's: the address may be wrong.
 *   H2. After a 401 a request is sent once more, with a new token.
 *   H3. Redirects are refused: no other address gets the token.
 *   H4. Once an attempt may have had an effect, the failure of the request has the outcome `unknown`: a later attempt says
 *       nothing about it.
 *   H5. The failure has the idempotency key of the request.
 */
import { AccessTokens, type Credentials, type TokenStore } from './access-tokens.ts'
import { type Clock, SYSTEM_CLOCK, untilAborted } from './clock.ts'
import type { Problem, Tokens as TokenReply } from './generated/api-types.ts'
import { isLedgerError, LedgerError, type Outcome } from './ledger-error.ts'

export interface RetryPolicy {
  /** With the first one. */
  readonly attempts: number
  /** Bound of the first delay; it doubles with each attempt. Half of each delay is random. */
  readonly firstDelayMs: number
  readonly longestDelayMs: number
  /** If the ledger says to wait longer, the request rejects at once, with `retryAfterMs`. 60 s by default. */
  readonly longestRetryAfterMs: number
}

export interface HttpOptions {
  /** Address of the ledger, such as `https://ledger.example`. */
  readonly url: string
  readonly credentials?: Credentials | undefined
  /**
   * Signed orders name it, by default after it was read once from the ledger. Assertions of a client with a key name it too, by
   * default the address.
   */
  readonly ledgerId?: string | undefined
  /** Keeps tokens between runs of a program. By default they are in memory. */
  readonly tokenStore?: TokenStore | undefined
  readonly retry?: Partial<RetryPolicy> | undefined
  /** For one attempt, beside the time that a request waits at the ledger. 20 s by default. */
  readonly timeoutMs?: number | undefined
  readonly fetch?: typeof globalThis.fetch | undefined
  /** For tests. */
  readonly clock?: Clock | undefined
}

export interface HttpRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: object | undefined
  /** Changes the reply to an attempt after one that may have taken effect. */
  readonly correctUncertain?: ((body: unknown) => void) | undefined
  /** In place of `body`: makes that of each attempt. */
  readonly newBody?: (() => Promise<object>) | undefined
  /** The request needs no token. */
  readonly open?: boolean
  /** The request takes effect at most once, however often it is sent. */
  readonly repeatable?: boolean
  /** Seconds for which it waits at the ledger. */
  readonly waitS?: number
  /** In place of those of the RetryPolicy. */
  readonly attempts?: number
  readonly signal?: AbortSignal | undefined
}

export interface HttpReply<Body = unknown> {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

const DEFAULT_RETRY: RetryPolicy = {
  attempts: 6,
  firstDelayMs: 200,
  longestDelayMs: 10_000,
  longestRetryAfterMs: 60_000,
}
/** A request waits for its turn for 5 s at most; then the ledger itself retries for 12 s at most. */
const DEFAULT_TIMEOUT_MS = 20_000
const TOKEN_PATH = '/v1/auth/token'
const UNAUTHORIZED = 401
const SERVER_ERROR = 500
/** Request Timeout, Too Early, Too Many Requests. */
export const PASSING_REFUSALS: ReadonlySet<number> = new Set([408, 425, 429])
const NO_CONTENT = 204

/** Makes an attempt. `isUncertain`: an earlier one may have taken effect. */
type Send<Result> = (headers: Readonly<Record<string, string>>, isUncertain: boolean) => Promise<Result>

export class Http {
  readonly tokens: AccessTokens
  readonly clock: Clock
  private readonly base: string
  private readonly retry: RetryPolicy
  private readonly timeoutMs: number
  private readonly fetch: typeof globalThis.fetch

  /** Throws a TypeError for an address that is no HTTP URL. */
  constructor({ url, credentials, ledgerId, tokenStore, retry, timeoutMs, fetch, clock = SYSTEM_CLOCK }: HttpOptions) {
    this.base = baseOf(url)
    this.clock = clock
    this.retry = { ...DEFAULT_RETRY, ...retry }
    this.timeoutMs = timeoutMs ?? DEFAULT_TIMEOUT_MS
    // A browser's `fetch` must not be a method of another object.
    this.fetch = fetch ?? ((...args) => globalThis.fetch(...args))
    this.tokens = new AccessTokens({
      credentials,
      store: tokenStore,
      nowMs: () => clock.nowMs(),
      audience: ledgerId === undefined ? `${this.base}${TOKEN_PATH}` : `urn:ledger:${ledgerId}`,
      issue: async (body) => {
        const sent = {
          method: 'POST',
          path: TOKEN_PATH,
          ...(typeof body === 'function' ? { newBody: body } : { body }),
          open: true,
          repeatable: !('refresh_token' in body),
        }
        return (await this.request<TokenReply>(sent)).body
      },
    })
  }

  /** The response with its JSON. Throws LedgerError for anything but a 2xx. */
  async request<Body>(request: HttpRequest): Promise<HttpReply<Body>> {
    return this.repeated(request, async (headers, isUncertain) => {
      const signals = [AbortSignal.timeout(this.timeoutMs + (request.waitS ?? 0) * 1_000), request.signal]
      const signal = AbortSignal.any(signals.filter((one) => one !== undefined))
      const response = await this.answered(request, headers, signal)
      const body = await jsonOf<Body>(request, response)
      if (isUncertain) request.correctUncertain?.(body)
      return { status: response.status, headers: response.headers, body }
    })
  }

  /** The response, for its body to be read as it arrives; the signal ends it. `within`: bounds the time of an attempt. */
  stream(
    request: HttpRequest,
    within: (work: Promise<Response>) => Promise<Response> = (work) => work,
  ): Promise<Response> {
    return this.repeated(request, (headers) => within(this.answered(request, headers, request.signal)))
  }

  /** The body as text, of any length; the signal ends it. A body that is cut off is a lost connection (H1). */
  text(request: HttpRequest): Promise<string> {
    return this.repeated(request, async (headers) => (await this.answered(request, headers, request.signal)).text())
  }

  private async repeated<Result>(request: HttpRequest, send: Send<Result>): Promise<Result> {
    try {
      return await this.attempted(request, send)
    } catch (error) {
      const idempotencyKey = keyOf(request)
      throw isLedgerError(error) && idempotencyKey !== undefined ? error.with({ idempotencyKey }) : error
    }
  }

  private async attempted<Result>(request: HttpRequest, send: Send<Result>): Promise<Result> {
    let refused: string | undefined
    let isUncertain = false
    for (let attempt = 1; ; attempt += 1) {
      request.signal?.throwIfAborted()
      const token = request.open === true ? undefined : await this.tokenFor(request, refused, isUncertain)
      try {
        return await send(token === undefined ? {} : { authorization: `Bearer ${token}` }, isUncertain)
      } catch (cause) {
        request.signal?.throwIfAborted()
        const error = isLedgerError(cause) ? cause : unreachable(this.base, request, cause)
        isUncertain ||= error.outcome === 'unknown'
        if (error.status === UNAUTHORIZED && token !== undefined && refused === undefined) {
          refused = token
          continue
        }
        const { retryAfterMs = 0 } = error
        const isTooLong = retryAfterMs > this.retry.longestRetryAfterMs
        if (attempt >= (request.attempts ?? this.retry.attempts) || isTooLong || !mayRepeat(request, error)) {
          throw isUncertain ? error.with({ outcome: 'unknown' }) : error
        }
        await this.clock.sleep(this.delayMs(attempt, retryAfterMs), request.signal)
      }
    }
  }

  /** Without a token the request is not sent. */
  private async tokenFor(
    { method, signal }: HttpRequest,
    refused: string | undefined,
    isUncertain: boolean,
  ): Promise<string> {
    try {
      // Other requests share the renewal: it goes on if this one is aborted.
      return await untilAborted(this.tokens.token(refused), signal)
    } catch (error) {
      if (!isLedgerError(error)) throw error
      throw error.with({ outcome: isUncertain ? 'unknown' : method === 'GET' ? undefined : 'not_applied' })
    }
  }

  private async answered(
    { method, path, headers, body: given, newBody }: HttpRequest,
    authorization: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const body = newBody === undefined ? given : await newBody()
    const response = await this.fetch(`${this.base}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        ...headers,
        ...authorization,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      redirect: 'error',
      credentials: 'omit',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
    if (!response.ok) throw await refusal(method, response)
    return response
  }

  private delayMs(attempt: number, leastMs: number): number {
    const boundMs = Math.min(this.retry.firstDelayMs * 2 ** (attempt - 1), this.retry.longestDelayMs)
    return Math.max(leastMs, 0) + boundMs * (0.5 + this.clock.random() / 2)
  }
}

function mayRepeat({ method, repeatable, open }: HttpRequest, { status, outcome }: LedgerError): boolean {
  const isRefused = status !== 0 && status < SERVER_ERROR && !PASSING_REFUSALS.has(status)
  if (isRefused) return repeatable === true && open !== true && outcome === 'unknown'
  return method === 'GET' || repeatable === true || outcome === 'not_applied'
}

/** Of a registration in the header, of an order in the signed body. */
export function keyOf({ headers, body }: Pick<HttpRequest, 'headers' | 'body'>): string | undefined {
  const inBody = body !== undefined && 'idempotency_key' in body ? body.idempotency_key : undefined
  return headers?.['idempotency-key'] ?? (typeof inBody === 'string' ? inBody : undefined)
}

function unreachable(base: string, { method }: HttpRequest, cause: unknown): LedgerError {
  return new LedgerError(`The ledger at ${base} does not respond.`, {
    codes: ['ERR_UNREACHABLE'],
    outcome: method === 'GET' ? undefined : 'unknown',
    cause,
  })
}

async function jsonOf<Body>({ method }: HttpRequest, response: Response): Promise<Body> {
  const text = await response.text()
  if (response.status === NO_CONTENT) return undefined as Body
  try {
    return JSON.parse(text) as Body
  } catch (cause) {
    throw unreadable(response, method === 'GET' ? undefined : 'unknown', cause)
  }
}

async function refusal(method: string, response: Response): Promise<LedgerError> {
  const problem = await response.json().then(problemOf, () => undefined)
  // A refusal of the ledger has no effect; a proxy says nothing about the ledger.
  const isRefused = problem !== undefined && response.status < SERVER_ERROR
  const outcome = method === 'GET' ? undefined : isRefused ? 'not_applied' : (problem?.outcome ?? 'unknown')
  if (problem === undefined) return unreadable(response, outcome)
  return new LedgerError(`${problem.title}: ${problem.detail}`, {
    codes: problem.error_codes,
    problem,
    ...originOf(response),
    outcome,
  })
}

function problemOf(value: unknown): Problem | undefined {
  const isProblem = typeof value === 'object' && value !== null && 'error_codes' in value && 'detail' in value
  return isProblem ? (value as Problem) : undefined
}

function unreadable(response: Response, outcome: Outcome, cause?: unknown): LedgerError {
  return new LedgerError(`The response (${response.status}) is not one of a ledger.`, {
    codes: ['ERR_UNREADABLE_RESPONSE'],
    ...originOf(response),
    outcome,
    cause,
  })
}

function originOf({ status, headers }: Response) {
  const afterS = Number(headers.get('retry-after') ?? Number.NaN)
  return {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    ...(Number.isFinite(afterS) ? { retryAfterMs: afterS * 1_000 } : {}),
  }
}

function baseOf(text: string): string {
  const url = new URL(text)
  if (!['http:', 'https:'].includes(url.protocol)) throw new TypeError('The address of the ledger must be an HTTP URL.')
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}
