/** A ledger that gives scripted responses, and time that passes only while the client sleeps. */
import type { Clock } from '../../../api/client/clock.ts'
import type { LedgerClientOptions } from '../../../api/client/ledger-client.ts'

export interface SentRequest {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  readonly body: string | undefined
}

/** A response, an error of the connection, or a function that responds. */
export type Answer = Response | Error | ((signal: AbortSignal | null | undefined) => Promise<Response>)

export interface FakeLedger {
  readonly options: LedgerClientOptions
  readonly sent: SentRequest[]
  /** In milliseconds. */
  readonly slept: number[]
  /** Lets time pass. */
  readonly pass: (durationMs: number) => void
}

const ACCESS = { token_type: 'Bearer', expires_in: 3_600 }

export function fakeLedger(answers: readonly Answer[], options: Partial<LedgerClientOptions> = {}): FakeLedger {
  const sent: SentRequest[] = []
  const slept: number[] = []
  const left = [...answers]
  let nowMs = 0
  const clock: Clock = {
    nowMs: () => nowMs,
    sleep: (durationMs, signal) => {
      signal?.throwIfAborted()
      slept.push(durationMs)
      nowMs += durationMs
      return Promise.resolve()
    },
    random: () => 0,
  }
  const fetch: typeof globalThis.fetch = async (input, { method = 'GET', headers, body, signal } = {}) => {
    const { pathname, search } = new URL(String(input))
    sent.push({ method, path: pathname + search, headers: new Headers(headers), body: body?.toString() })
    const answer = left.shift()
    if (answer === undefined) throw new Error(`no answer is left for ${method} ${pathname}`)
    if (answer instanceof Error) throw answer
    return typeof answer === 'function' ? answer(signal) : answer
  }
  return {
    options: {
      url: 'https://ledger.example/',
      ledgerId: 'this-ledger',
      credentials: { clientId: 'me', clientSecret: 'secret' },
      fetch,
      clock,
      ...options,
    },
    sent,
    slept,
    pass: (durationMs) => {
      nowMs += durationMs
    },
  }
}

export function json(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers })
}

/** Tokens named `access-<name>` and `refresh-<name>`. */
export function tokens(name: string): Response {
  return json({ ...ACCESS, access_token: `access-${name}`, refresh_token: `refresh-${name}` })
}

export function problem(
  status: number,
  code: string,
  members: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): Response {
  const body = { type: 'about:blank', title: 'Refused', status, detail: 'Why.', error_codes: [code], ...members }
  return json(body, status, { 'x-request-id': 'request-1', ...headers })
}

/** Never responds. */
export function silence(signal: AbortSignal | null | undefined): Promise<Response> {
  return new Promise((_, reject) => {
    if (signal?.aborted === true) reject(signal.reason)
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
