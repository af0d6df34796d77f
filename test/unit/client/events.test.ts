/** Rules E1 and E2 of the event iterator. */
import { describe, expect, test } from 'vitest'
import { type EventFilter, LedgerClient } from '../../../api/client/index.ts'
import { type Answer, fakeLedger, json, problem, silence, tokens } from './fake-ledger.ts'

/** A stream that ends after these chunks. */
function stream(...chunks: readonly (string | Uint8Array)[]): Response {
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(typeof chunk === 'string' ? encoder.encode(chunk) : chunk)
      controller.close()
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

function message(cursor: string, subject = cursor): string {
  return `id: ${cursor}\nevent: ledger.transaction.completed.v1\ndata: ${JSON.stringify({ id: cursor, subject })}\n\n`
}

function opened(answers: readonly Answer[]) {
  const fake = fakeLedger([tokens('1'), ...answers])
  const ledger = new LedgerClient(fake.options)
  const read = async (count: number, filter: EventFilter = {}): Promise<readonly string[]> => {
    const seen: string[] = []
    for await (const { cursor, event } of ledger.events(filter)) {
      seen.push(`${cursor} ${event.subject}`)
      if (seen.length === count) break
    }
    return seen
  }
  return { ...fake, ledger, read, paths: () => fake.sent.slice(1).map(({ path }) => path) }
}

describe('events', () => {
  test('arrive in order, however the stream is cut into chunks', async () => {
    const bytes = new TextEncoder().encode(`retry: 3000\n\n: comment\n\n${message('c1', 'é€😀')}${message('c2')}`)
    const single = [...bytes].map((byte) => Uint8Array.of(byte))
    const { read, paths, sent } = opened([stream(...single)])
    expect(await read(2, { types: ['ledger.transaction.*', 'ledger.group.*'], account_id: 'alice' })).toEqual([
      'c1 é€😀',
      'c2 c2',
    ])
    expect(paths().map(decodeURIComponent)).toEqual([
      '/v1/events?account_id=alice&types=ledger.transaction.*,ledger.group.*',
    ])
    expect(sent[1]?.headers.get('accept')).toBe('text/event-stream')
  })

  test('E1: after the end of a stream the next one begins behind the last cursor', async () => {
    const { read, paths, slept } = opened([
      stream(message('c1'), 'id: c2\ndata: {"cut'),
      new TypeError('fetch failed'),
      stream('id: c1b\n\n'),
      stream(message('c2')),
    ])
    expect(await read(2, { after: 'c0' })).toEqual(['c1 c1', 'c2 c2'])
    expect(paths()).toEqual([
      '/v1/events?after=c0',
      '/v1/events?after=c1',
      '/v1/events?after=c1',
      '/v1/events?after=c1b',
    ])
    expect(slept).toHaveLength(3)
  })

  test('E1: a stream whose token has ended continues with a new one', async () => {
    const { read, sent } = opened([
      stream(message('c1')),
      problem(401, 'ERR_UNAUTHORIZED'),
      tokens('2'),
      stream(message('c2')),
    ])
    expect(await read(2)).toEqual(['c1 c1', 'c2 c2'])
    expect(sent.at(-1)?.headers.get('authorization')).toBe('Bearer access-2')
  })

  test('E1: an outage of the ledger does not end them', async () => {
    const outage = Array.from({ length: 13 }, () => problem(503, 'ERR_SHARD_UNAVAILABLE'))
    const { read } = opened([stream(message('c1')), ...outage, stream(message('c2'))])
    expect(await read(2)).toEqual(['c1 c1', 'c2 c2'])
  })

  test('E1: a refusal that passes does not end them, nor does a Retry-After of an hour', async () => {
    const busy = Array.from({ length: 6 }, () => problem(429, 'ERR_OVERLOADED'))
    const long = problem(503, 'ERR_OVERLOADED', {}, { 'retry-after': '3600' })
    const { read, slept } = opened([...busy, long, stream(message('c1'))])
    expect(await read(1)).toEqual(['c1 c1'])
    expect(slept).toEqual([100, 200, 400, 800, 1_600, 2_500, 62_500])
  })

  test('E1: a Retry-After of 50 s is kept, and every refused attempt is told', async () => {
    const away = problem(503, 'ERR_OVERLOADED', {}, { 'retry-after': '50' })
    const { read, slept } = opened([away, new TypeError('fetch failed'), stream(message('c1'))])
    const lost: unknown[] = []
    expect(await read(1, { onLost: (error) => void lost.push(error) })).toEqual(['c1 c1'])
    expect(slept).toEqual([50_100, 200])
    expect(lost).toMatchObject([{ status: 503, retryAfterMs: 50_000 }, { code: 'ERR_UNREACHABLE' }])
  })

  test('E1: an outage before the end of the log is known does not end them', async () => {
    const outage = Array.from({ length: 13 }, () => problem(503, 'ERR_SHARD_UNAVAILABLE'))
    const { read, paths } = opened([...outage, json({ events: [], next_cursor: 'c9' }), stream(message('c10'))])
    expect(await read(1, { after: 'latest' })).toEqual(['c10 c10'])
    expect(paths().slice(-2)).toEqual(['/v1/events?after=latest', '/v1/events?after=c9'])
    const refused = opened([problem(403, 'ERR_FORBIDDEN')]).read(1, { after: 'latest' })
    await expect(refused).rejects.toMatchObject({ code: 'ERR_FORBIDDEN' })
  })

  test('E1: a lost connection is told, the end of a stream is not', async () => {
    const broken = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error('cut off')) })
    const { read } = opened([stream(message('c1')), new Response(broken), stream(message('c2'))])
    const lost: unknown[] = []
    expect(await read(2, { onLost: (error) => void lost.push(error) })).toEqual(['c1 c1', 'c2 c2'])
    expect(lost).toEqual([new Error('cut off')])
  })

  test('E1: `latest` is the end of the log before the first connection, also for the next ones', async () => {
    const { read, paths } = opened([json({ events: [], next_cursor: 'c9' }), stream(), stream(message('c10'))])
    expect(await read(1, { after: 'latest', account_id: 'alice' })).toEqual(['c10 c10'])
    expect(paths()).toEqual([
      '/v1/events?account_id=alice&after=latest',
      '/v1/events?account_id=alice&after=c9',
      '/v1/events?account_id=alice&after=c9',
    ])
  })

  test('an event that cannot be read is an error, and is not skipped', async () => {
    const { read } = opened([stream('id: c1\ndata: {\n\n', message('c2'))])
    await expect(read(1)).rejects.toMatchObject({ code: 'ERR_UNREADABLE_RESPONSE' })
  })

  test('a refused cursor is an error', async () => {
    const { read } = opened([problem(400, 'ERR_INVALID_QUERY')])
    await expect(read(1, { after: 'of another database' })).rejects.toMatchObject({ code: 'ERR_INVALID_QUERY' })
  })

  test('the end of a loop, and the signal, close the connection', async () => {
    const signals: (AbortSignal | null | undefined)[] = []
    const kept = (signal: AbortSignal | null | undefined): Promise<Response> => {
      signals.push(signal)
      return Promise.resolve(stream(message('c1')))
    }
    const controller = new AbortController()
    const { read } = opened([kept, silence])
    await read(1)
    expect(signals[0]?.aborted).toBe(true)
    const reading = read(1, { signal: controller.signal })
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(reading).rejects.toBe(reason)
  })
})
