/**
 * Follows the event log over server-sent events.
 *   E1. After a lost connection, or the end of an access token, it continues behind the last event that it gave.
 *       An outage of the ledger does not end it, also not before the first event. It waits as long as `Retry-After` says,
 *       at most 60 s. `onLost` gets the failure of each attempt.
 *   E2. A connection on which nothing arrives is given up: the ledger sends a comment every 15 s.
 */
import type { Event } from './generated/api-types.ts'
import { type Http, PASSING_REFUSALS } from './http.ts'
import { isLedgerError, LedgerError } from './ledger-error.ts'

export interface EventFilter {
  /** A cursor, or `latest`. The beginning of the log by default. */
  readonly after?: string
  /** Names such as `ledger.transaction.completed.v1`, or beginnings such as `ledger.transaction.*`. */
  readonly types?: readonly string[]
  readonly account_id?: string
  readonly token_id?: string
  /** Called after each connection that was lost or refused for a reason that passes; another one is opened. */
  readonly onLost?: (error: unknown) => void
  readonly signal?: AbortSignal
}

export interface FollowedEvent {
  /** Store it together with the effects of the event, and continue with it as `after`. */
  readonly cursor: string
  readonly event: Event
}

/** Fields of one server-sent event; absent: empty. */
export interface StreamBlock {
  readonly id: string
  readonly data: string
}

const LATEST = 'latest'
const OK = 200
const SERVER_ERROR = 500
const SILENCE_MS = 45_000
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 5_000
const LONGEST_RETRY_AFTER_MS = 60_000

/** Ends only with the signal, whose reason it throws, or with the `return` of a loop. Throws LedgerError for a refusal. */
export async function* followEvents(
  http: Http,
  { after, types, onLost, signal, ...filter }: EventFilter,
): AsyncGenerator<FollowedEvent> {
  const query = new URLSearchParams({ ...filter, ...(types === undefined ? {} : { types: types.join(',') }) })
  let cursor = after
  let pauseMs = FIRST_PAUSE_MS
  for (;;) {
    signal?.throwIfAborted()
    const connection = new AbortController()
    const signals = signal === undefined ? [connection.signal] : [connection.signal, signal]
    let leastMs = 0
    try {
      // Connections that end before the first event must not begin at a later end of the log.
      if (cursor === LATEST) cursor = await endOfLog(http, query, signal)
      if (cursor !== undefined) query.set('after', cursor)
      const request = {
        method: 'GET',
        path: `/v1/events?${query.toString()}`,
        headers: { accept: 'text/event-stream' },
        signal: AbortSignal.any(signals),
        attempts: 1,
      }
      const response = await http.stream(request, (work) => patiently(connection, work))
      for await (const { id, data } of blocksOf(response, connection)) {
        const event = data === '' ? undefined : eventOf(data)
        if (id !== '') cursor = id
        if (event === undefined) continue
        pauseMs = FIRST_PAUSE_MS
        yield { cursor: id, event }
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (isLedgerError(error) && isFinal(error)) throw error
      onLost?.(error)
      leastMs = isLedgerError(error) ? Math.min(error.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS) : 0
    } finally {
      connection.abort()
    }
    await http.clock.sleep(leastMs + pauseMs * (0.5 + http.clock.random() / 2), signal)
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
  }
}

/** Ends the connection if the work takes too long (E2). */
function patiently<Result>(connection: AbortController, work: Promise<Result>): Promise<Result> {
  const silence = `The ledger sent nothing for ${SILENCE_MS / 1_000} s.`
  const timer = setTimeout(() => connection.abort(new LedgerError(silence, { codes: ['ERR_UNREACHABLE'] })), SILENCE_MS)
  return work.finally(() => clearTimeout(timer))
}

/** The cursor behind the last event. */
async function endOfLog(http: Http, query: URLSearchParams, signal: AbortSignal | undefined): Promise<string> {
  const path = `/v1/events?${new URLSearchParams({ ...Object.fromEntries(query), after: LATEST }).toString()}`
  const { body } = await http.request<{ readonly next_cursor: string }>({ method: 'GET', path, signal, attempts: 1 })
  return body.next_cursor
}

/** A refusal, or a response of something else. Anything else may pass. */
function isFinal({ status }: LedgerError): boolean {
  return status > 0 && status < SERVER_ERROR && !PASSING_REFUSALS.has(status)
}

function eventOf(data: string): Event {
  try {
    return JSON.parse(data) as Event
  } catch (cause) {
    throw new LedgerError('An event of the stream is not JSON.', {
      codes: ['ERR_UNREADABLE_RESPONSE'],
      status: OK,
      cause,
    })
  }
}

async function* blocksOf({ body }: Response, connection: AbortController): AsyncGenerator<StreamBlock> {
  if (body === null) return
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  for (;;) {
    const { done, value } = await patiently(connection, reader.read())
    if (done) return
    const [last = '', ...blocks] = `${rest}${decoder.decode(value, { stream: true })}`.split('\n\n').toReversed()
    rest = last
    for (const block of blocks.toReversed()) yield readBlock(block)
  }
}

export function readBlock(block: string): StreamBlock {
  const fields = block.split('\n').map((line): readonly [string, string] => {
    const colon = line.indexOf(':')
    return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')]
  })
  const valuesOf = (name: string): readonly string[] =>
    fields.filter(([field]) => field === name).map(([, value]) => value)
  return { id: valuesOf('id').at(-1) ?? '', data: valuesOf('data').join('\n') }
}
