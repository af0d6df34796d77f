/** The event log: pages, waiting, filters, scopes, and streams (D17, D23). */
import { describe, expect, test } from 'vitest'
import { EventsUnavailable, type LedgerEvent } from '../../../../runtime/ports/ledger-events.ts'
import {
  bodyOf,
  clientOf,
  createEdgeFixture,
  type EdgeFixture,
  LEDGER_ID,
  refusalOf,
  signedIn,
} from '../fakes/edge-fixture.ts'
import { accountEvent } from '../fakes/fake-events.ts'

type Shown = Readonly<{
  events: readonly { readonly id: string; readonly type: string; readonly subject: string }[]
  next_cursor: string
}>

function add(edge: EdgeFixture, accountId: string, over: Partial<LedgerEvent> = {}): LedgerEvent {
  const event = accountEvent(edge.events.log, accountId, over)
  edge.events.log.push(event)
  return event
}

async function pageOf(edge: EdgeFixture, token: string, query = ''): Promise<Shown> {
  const response = await edge.get(`/v1/events?${query}`, token)
  expect(response.status).toBe(200)
  return (await bodyOf(response)) as Shown
}

const subjectsOf = ({ events }: Shown): readonly string[] => events.map(({ subject }) => subject)

describe('a page of events', () => {
  test('shows each event as a CloudEvent, oldest first, and a cursor for the next page', async () => {
    const { edge, token } = await signedIn('viewer')
    const first = add(edge, 'alice')
    add(edge, 'bob')
    const page = await pageOf(edge, token, 'page_size=1')
    expect(page.events).toEqual([
      {
        specversion: '1.0',
        id: first.id,
        source: `urn:ledger:${LEDGER_ID}`,
        type: 'ledger.account.registered.v1',
        subject: 'alice',
        time: '2025-10-09T08:53:20.000Z',
        datacontenttype: 'application/json',
        data: {
          account_id: 'alice',
          sequence: 0,
          previous_hash: `sha256:${'0'.repeat(64)}`,
          audit_hash: `sha256:${'ab'.repeat(32)}`,
          payload: '{}',
        },
      },
    ])
    const second = await pageOf(edge, token, `after=${page.next_cursor}`)
    expect(subjectsOf(second)).toEqual(['bob'])
    const third = await pageOf(edge, token, `after=${second.next_cursor}`)
    expect([third.events, third.next_cursor]).toEqual([[], second.next_cursor])
  })

  test('selects by type, account and asset', async () => {
    const { edge, token } = await signedIn('viewer')
    add(edge, 'alice', { name: 'transaction.completed', tokenIds: ['EUR'] })
    add(edge, 'bob', { name: 'transaction.failed', accountIds: ['bob', 'alice'] })
    add(edge, 'erased:alice', { name: 'account.erased' })
    expect(subjectsOf(await pageOf(edge, token, 'types=ledger.transaction.*'))).toEqual(['alice', 'bob'])
    const types = 'types=ledger.transaction.failed.v1,ledger.account.erased.v1'
    expect(subjectsOf(await pageOf(edge, token, types))).toEqual(['bob', 'erased:alice'])
    expect(subjectsOf(await pageOf(edge, token, 'account_id=alice'))).toEqual(['alice', 'bob', 'erased:alice'])
    expect(subjectsOf(await pageOf(edge, token, 'token_id=EUR'))).toEqual(['alice'])
  })

  test('begins at the end with `latest`', async () => {
    const { edge, token } = await signedIn('viewer')
    add(edge, 'alice')
    const { events, next_cursor: cursor } = await pageOf(edge, token, 'after=latest')
    add(edge, 'bob')
    expect([events, subjectsOf(await pageOf(edge, token, `after=${cursor}`))]).toEqual([[], ['bob']])
  })

  test('examines a bounded number of events, and goes on behind them', async () => {
    const { edge, token } = await signedIn('viewer')
    for (let count = 0; count < 6_000; count += 1) add(edge, 'bob')
    add(edge, 'alice')
    const page = await pageOf(edge, token, 'account_id=alice')
    expect([page.events, edge.events.limits.reduce((sum, limit) => sum + limit)]).toEqual([[], 5_000])
    expect(subjectsOf(await pageOf(edge, token, `account_id=alice&after=${page.next_cursor}`))).toEqual(['alice'])
  })

  test('refuses a cursor that is damaged, of another client, or of a replaced database', async () => {
    const { edge, token } = await signedIn('viewer')
    add(edge, 'alice')
    const { next_cursor: cursor } = await pageOf(edge, token)
    const refused = { status: 400, codes: ['ERR_INVALID_QUERY'], fields: ['after'] }
    expect(await refusalOf(await edge.get(`/v1/events?after=${cursor}A`, token))).toEqual(refused)
    const other = await edge.tokenFor('viewer', 'another')
    expect(await refusalOf(await edge.get(`/v1/events?after=${cursor}`, other))).toEqual(refused)
    edge.events.log.length = 0
    expect(await refusalOf(await edge.get(`/v1/events?after=${cursor}`, token))).toEqual(refused)
  })

  test.for([
    ['types=ledger.none.v1', 'types', 'ERR_INVALID_QUERY'],
    ['account_id=a b', 'account_id', 'ERR_INVALID_ACCOUNT_ID'],
    ['token_id=a b', 'token_id', 'ERR_INVALID_TOKEN_ID'],
    ['wait=-1', 'wait', 'ERR_INVALID_QUERY'],
    ['page_size=0', 'page_size', 'ERR_INVALID_QUERY'],
  ] as const)('refuses %s', async ([query, field, code]) => {
    const { edge, token } = await signedIn('viewer')
    const refused = { status: 400, codes: [code], fields: [field] }
    expect(await refusalOf(await edge.get(`/v1/events?${query}`, token))).toEqual(refused)
  })

  test('shows a scoped client only events that concern its accounts', async () => {
    const edge = createEdgeFixture()
    edge.access.clients.set('scoped', { ...clientOf('scoped', 'viewer'), accounts: ['alice'] })
    const token = await edge.tokenFor('viewer', 'scoped')
    add(edge, 'alice')
    add(edge, 'bob')
    add(edge, 'group', { accountIds: ['bob', 'alice'] })
    add(edge, 'erased:alice')
    expect(subjectsOf(await pageOf(edge, token))).toEqual(['alice', 'group'])
    expect(subjectsOf(await pageOf(edge, token, 'account_id=alice'))).toEqual(['alice', 'group', 'erased:alice'])
    expect(subjectsOf(await pageOf(edge, token, 'account_id=bob'))).toEqual(['group'])
  })
})

describe('a page that waits', () => {
  /** The page waits: its own timer is set, and that of the tail. */
  const isWaiting = ({ clock }: EdgeFixture): Promise<void> => clock.timersSet(2)

  test('has the event that comes meanwhile, or is empty in the end', async () => {
    const { edge, token } = await signedIn('viewer')
    const waiting = pageOf(edge, token, 'wait=5')
    await isWaiting(edge)
    await edge.clock.advance(60)
    await isWaiting(edge)
    add(edge, 'alice')
    await edge.clock.advance(60)
    const page = await waiting
    expect(subjectsOf(page)).toEqual(['alice'])
    const inVain = pageOf(edge, token, `after=${page.next_cursor}&wait=2`)
    await isWaiting(edge)
    await edge.clock.advance(2_000)
    expect((await inVain).events).toEqual([])
  })

  test('has the events of a scope that became wider meanwhile', async () => {
    const edge = createEdgeFixture()
    const scopedTo = (...accounts: string[]): void => {
      edge.access.clients.set('scoped', { ...clientOf('scoped', 'viewer'), accounts })
    }
    scopedTo('alice')
    const token = await edge.tokenFor('viewer', 'scoped')
    const waiting = pageOf(edge, token, 'wait=20')
    await isWaiting(edge)
    await edge.clock.advance(60)
    await isWaiting(edge)
    scopedTo('alice', 'bob')
    await edge.clock.advance(6_000)
    add(edge, 'bob')
    await edge.clock.advance(60)
    add(edge, 'alice')
    await edge.clock.advance(60)
    expect(subjectsOf(await waiting)).toEqual(['bob', 'alice'])
  })
})

describe('a stream of events', () => {
  async function open(edge: EdgeFixture, token: string, query = '', headers: Record<string, string> = {}) {
    const response = await edge.get(`/v1/events?${query}`, token, { accept: 'text/event-stream', ...headers })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const next = async (): Promise<string | undefined> => {
      const { value } = await reader.read()
      return value === undefined ? undefined : Buffer.from(value).toString('utf8')
    }
    expect(await next()).toBe('retry: 3000\n\n')
    return { next, cancel: () => reader.cancel() }
  }

  test('has earlier events, then those that come, and resumes with Last-Event-ID', async () => {
    const { edge, token } = await signedIn('viewer')
    add(edge, 'alice')
    const stream = await open(edge, token)
    const first = (await stream.next()) ?? ''
    expect(first).toMatch(/^id: [\w-]+\nevent: ledger\.account\.registered\.v1\ndata: \{.*"subject":"alice".*\}\n\n$/)
    const coming = stream.next()
    await edge.clock.advance(60)
    add(edge, 'bob')
    await edge.clock.advance(60)
    expect(await coming).toContain('"subject":"bob"')
    await stream.cancel()
    const cursor = /^id: (.*)$/m.exec(first)?.[1] ?? ''
    const resumed = await open(edge, token, '', { 'last-event-id': cursor })
    const text = await resumed.next()
    expect([text?.includes('"subject":"bob"'), text?.includes('alice')]).toEqual([true, false])
    await resumed.cancel()
  })

  test('has an event that came between the first read and the start of the tail', async () => {
    const { edge, token } = await signedIn('viewer')
    const stream = await open(edge, token)
    const coming = stream.next()
    // The stream has read an empty log; the tail has not read yet.
    await edge.clock.advance(1)
    add(edge, 'alice')
    await edge.clock.advance(100)
    expect(await coming).toContain('"subject":"alice"')
    await stream.cancel()
  })

  test('reads events again that the tail had in memory before an erasure', async () => {
    const { edge, token } = await signedIn('viewer')
    const keeper = await open(edge, token, 'after=latest')
    const stream = await open(edge, token, 'after=latest')
    await edge.clock.advance(60)
    for (let count = 0; count < 101; count += 1) add(edge, 'alice')
    const first = stream.next()
    await edge.clock.advance(60)
    expect((await first)?.match(/"subject":"alice"/g)).toHaveLength(100)
    // The erasure: the log shows a pseudonym from now on.
    for (const [index, event] of edge.events.log.entries())
      edge.events.log[index] = { ...event, subject: 'erased:alice' }
    add(edge, 'erased:alice', { name: 'account.erased' })
    await edge.clock.advance(60)
    expect((await stream.next())?.match(/"subject":"[a-z:]*"/g)).toEqual(Array(2).fill('"subject":"erased:alice"'))
    await Promise.all([keeper, stream].map(({ cancel }) => cancel()))
  })

  test('breaks off where the log cannot be read, and the failure is logged', async () => {
    const { edge, token } = await signedIn('viewer')
    const stream = await open(edge, token, 'after=latest')
    const coming = stream.next()
    edge.events.failure = new EventsUnavailable('The database is gone.')
    const broken = expect(coming).rejects.toThrow('The database is gone.')
    await edge.clock.advance(60)
    await broken
    expect(edge.log.map(({ event }) => event)).toContain('port_unavailable')
  })

  test('sends a comment with the cursor after 15 s without an event', async () => {
    const { edge, token } = await signedIn('viewer')
    const stream = await open(edge, token)
    const coming = stream.next()
    await edge.clock.advance(15_000)
    expect(await coming).toMatch(/^: no event\nid: [\w-]+\n\n$/)
    await stream.cancel()
  })

  test('ends once the client is revoked', async () => {
    const { edge, token } = await signedIn('viewer')
    const stream = await open(edge, token)
    const coming = stream.next()
    edge.access.clients.set('client-viewer', { ...clientOf('client-viewer', 'viewer'), revokedAtMs: edge.clock.now() })
    await edge.clock.advance(3_700_000)
    expect(await coming).toBeUndefined()
  })

  test('is refused beyond the bound of a client, until another one ends', async () => {
    const { edge, token } = await signedIn('viewer')
    const streams = []
    for (let count = 0; count < 100; count += 1) streams.push(await open(edge, token))
    const refused = await edge.get('/v1/events', token, { accept: 'text/event-stream' })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refusalOf(refused)).toMatchObject({ status: 503, codes: ['ERR_OVERLOADED'] })
    await streams[0]?.cancel()
    const again = await open(edge, token)
    await Promise.all([...streams.slice(1), again].map((stream) => stream.cancel()))
  })
})
