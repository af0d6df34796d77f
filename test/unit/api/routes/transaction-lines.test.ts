/** N1 to N4: a list of transactions as lines is complete, keeps the reader's pace, and marks an incomplete list. */
import { describe, expect, test } from 'vitest'
import { encodeUlid } from '../../../../actors/identifiers.ts'
import {
  ReadsUnavailable,
  type TransactionCursor,
  type TransactionPage,
  type TransactionQuery,
  type TransactionView,
} from '../../../../runtime/ports/ledger-reads.ts'
import { STREAMS_AT_ONCE, STREAMS_OF_ONE_CLIENT } from '../../../../api/http/stream-places.ts'
import { STALLED_AFTER_MS } from '../../../../api/http/text-stream.ts'
import {
  bodyOf,
  clientOf,
  createEdgeFixture,
  createFakeReads,
  type EdgeFixture,
  refusalOf,
  transactionView,
} from '../fakes/edge-fixture.ts'

const MOST_PAGES = 100
const LINES = { accept: 'application/x-ndjson' }

type Line = Readonly<Record<string, unknown>>

interface Ledger extends EdgeFixture {
  /** In the order of acceptance. A test may add rows. */
  readonly rows: TransactionView[]
  readonly queries: TransactionQuery[]
  /** Called before each page with the number of earlier pages. */
  beforePage: (pages: number) => void | Promise<void>
}

/** A ledger of `count` transactions. Each page examines at most `examined` of them, as the SQL reads do. */
function ledgerOf(count: number, examined = Number.POSITIVE_INFINITY): Ledger {
  const rows = Array.from({ length: count }, (_, index) => transactionOf(index))
  const queries: TransactionQuery[] = []
  const reads = {
    ...createFakeReads(),
    transactions: async (query: TransactionQuery) => {
      queries.push(query)
      if (queries.length > MOST_PAGES) throw new Error('it does not end')
      await ledger.beforePage(queries.length - 1)
      return pageOf(rows, query, examined)
    },
  }
  const ledger: Ledger = { ...createEdgeFixture({ reads }), rows, queries, beforePage: () => undefined }
  return ledger
}

function transactionOf(index: number, accountId = index % 2 === 0 ? 'alice' : 'bob'): TransactionView {
  return transactionView({
    txnId: `txn_${encodeUlid({ timeMs: 1_760_000_000_000, counter: index, shardId: 7, random: 0 })}`,
    accountId,
  })
}

function pageOf(rows: readonly TransactionView[], query: TransactionQuery, examined: number): TransactionPage {
  const { accountId, after, limit, order } = query
  const all = order === 'asc' ? rows : rows.toReversed()
  const start = after === null ? 0 : placeBehind(all, after)
  const looked = all.slice(start, start + examined)
  const found = looked.filter((row) => accountId === null || row.accountId === accountId)
  const shown = found.slice(0, limit)
  const last = found.length > shown.length ? shown.at(-1) : looked.at(-1)
  const atEnd = found.length === shown.length && start + looked.length === all.length
  const count = query.counted ? { total: found.length, exact: true } : null
  if (order === 'desc') return { transactions: shown, next: atEnd ? null : cursorOf(last, null), ended: atEnd, count }
  const next = cursorOf(atEnd ? undefined : last, String(all.length))
  return { transactions: shown, next, ended: atEnd, count }
}

function cursorOf(row: TransactionView | undefined, position: string | null): TransactionCursor {
  return { position, txnId: row?.txnId ?? '' }
}

function placeBehind(all: readonly TransactionView[], { txnId, position }: TransactionCursor): number {
  return txnId === '' ? Number(position) : all.findIndex((row) => row.txnId === txnId) + 1
}

async function linesOf(response: Response): Promise<readonly Line[]> {
  const text = await response.text()
  expect(text.endsWith('\n')).toBe(true)
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}

async function asked(edge: EdgeFixture, query = '', role: 'viewer' | 'admin' = 'viewer'): Promise<Response> {
  return edge.get(`/v1/transactions${query}`, await edge.tokenFor(role), LINES)
}

function idsIn(lines: readonly Line[]): readonly unknown[] {
  return lines.flatMap((line) => line['txn_id'] ?? [])
}

function ids(rows: readonly TransactionView[]): readonly string[] {
  return rows.map(({ txnId }) => txnId)
}

/** The state of a reader that was cut off after these lines: the rows up to the last token, and the token. */
function kept(lines: readonly Line[]): { readonly rows: readonly unknown[]; readonly token: string } {
  const place = lines.findLastIndex((line) => line['next_page_token'] !== undefined)
  return { rows: idsIn(lines.slice(0, place + 1)), token: String(lines[place]?.['next_page_token'] ?? '') }
}

describe('the lines', () => {
  test('each transaction has a line as in the list, each page ends with a token, and the list with an end line', async () => {
    const edge = ledgerOf(5)
    const response = await asked(edge, '?page_size=2')
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
    expect(response.headers.get('vary')).toBe('Accept')
    expect(response.headers.get('cache-control')).toBe('no-store')
    const lines = await linesOf(response)
    const list = await bodyOf(await edge.get('/v1/transactions', await edge.tokenFor('viewer')))
    expect(lines.filter((line) => line['txn_id'] !== undefined)).toEqual(list['transactions'])
    const token = { next_page_token: expect.stringMatching(/^[A-Za-z0-9_-]{20,512}$/) as unknown }
    expect(lines.filter((line) => line['txn_id'] === undefined)).toEqual([
      token,
      token,
      { end: true, count: 5, next_page_token: '' },
    ])
    expect(lines.map((line) => line['txn_id'] !== undefined)).toEqual([1, 1, 0, 1, 1, 0, 1, 0].map(Boolean))
  })

  test('an empty list is only the end line, without a count query', async () => {
    const edge = ledgerOf(0)
    expect(await linesOf(await asked(edge))).toEqual([{ end: true, count: 0, next_page_token: '' }])
    expect(edge.queries).toMatchObject([{ limit: 100, after: null, counted: false, order: 'desc' }])
  })

  // accept.test.ts tests which requests prefer lines.
  test('other requests get JSON, with Vary: Accept', async () => {
    const edge = ledgerOf(1)
    const response = await edge.get('/v1/transactions', await edge.tokenFor('viewer'), { accept: '*/*' })
    const names = ['content-type', 'vary']
    expect(names.map((name) => response.headers.get(name))).toEqual(['application/json', 'Accept'])
    expect(await bodyOf(response)).toMatchObject({ total_count: 1 })
  })

  test('pages without a visible row also end with a token', async () => {
    const edge = ledgerOf(9, 2)
    const lines = await linesOf(await asked(edge, '?account_id=nobody'))
    expect(lines.slice(0, -1).map((line) => Object.keys(line))).toEqual(
      Array.from({ length: 4 }, () => ['next_page_token']),
    )
    expect(lines.at(-1)).toEqual({ end: true, count: 0, next_page_token: '' })
  })

  test('a wrong query is 400 and reads nothing', async () => {
    const edge = ledgerOf(1)
    const refused = await refusalOf(await asked(edge, '?order=up&page_size=0&page_token=x'))
    expect(refused).toMatchObject({ status: 400, fields: ['order', 'page_size', 'page_token'] })
    expect(edge.queries).toEqual([])
  })

  test('HEAD returns the type, and reads nothing', async () => {
    const edge = ledgerOf(3)
    const headers = { authorization: `Bearer ${await edge.tokenFor('viewer')}`, ...LINES }
    for (let times = 0; times <= STREAMS_AT_ONCE; times += 1) {
      const response = await edge.app.request('/v1/transactions', { method: 'HEAD', headers })
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
      expect(await response.text()).toBe('')
    }
    expect(edge.queries).toEqual([])
  })
})

describe('N1: the pace of the reader', () => {
  test('a page is read after the reader took the page before it', async () => {
    const edge = ledgerOf(6)
    const response = await asked(edge, '?page_size=1')
    await edge.clock.advance(STALLED_AFTER_MS - 1)
    expect(edge.queries).toHaveLength(1)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    for (const pages of [1, 2, 3]) {
      await reader.read()
      expect(edge.queries).toHaveLength(pages)
    }
    await reader.cancel()
    await edge.clock.advance(0)
    expect(edge.queries).toHaveLength(3)
  })

  test('a changed scope applies from the next page, under the same token', async () => {
    const edge = ledgerOf(8)
    const clientId = 'client-viewer'
    edge.access.clients.set(clientId, { ...clientOf(clientId, 'viewer'), accounts: null })
    edge.beforePage = async (pages) => {
      if (pages !== 2) return
      edge.access.clients.set(clientId, { ...clientOf(clientId, 'viewer'), accounts: ['alice'] })
      await edge.clock.advance(5_000)
    }
    const lines = await linesOf(await asked(edge, '?page_size=2'))
    const accounts = lines.flatMap((line) => line['account_id'] ?? [])
    expect(accounts).toEqual(['bob', 'alice', 'bob', 'alice', 'bob', 'alice', 'alice'])
  })
})

describe('N2: an incomplete list is marked', () => {
  test('a ledger that becomes unreadable ends the list with a problem line without details', async () => {
    const edge = ledgerOf(6)
    edge.beforePage = (pages) => {
      if (pages === 2) throw new ReadsUnavailable('connect ECONNREFUSED 10.0.0.1:5432')
    }
    const response = await asked(edge, '?page_size=2')
    const text = await response.clone().text()
    const lines = await linesOf(response)
    expect(text).not.toMatch(/ECONN|10\.0/)
    const id = response.headers.get('x-request-id')
    const type = 'https://ledger.example/errors/downstream-failure'
    const problem = { type, status: 503, instance: '/v1/transactions', request_id: id }
    expect(lines.at(-1)).toMatchObject({ problem: { ...problem, error_codes: ['ERR_DOWNSTREAM_FAILURE'] } })
    expect(edge.log.map(({ event, fields }) => [event, fields['request_id'], fields['end'], fields['rows']])).toEqual([
      ['port_unavailable', id, undefined, undefined],
      ['transactions_streamed', id, 'failed', 4],
    ])
    edge.beforePage = () => undefined
    const { rows, token } = kept(lines)
    const rest = await linesOf(await asked(edge, `?page_token=${token}`))
    expect([...rows, ...idsIn(rest)]).toEqual(ids(edge.rows.toReversed()))
  })

  test('a defect ends the list with a problem line, and is logged', async () => {
    const edge = ledgerOf(3)
    edge.beforePage = (pages) => {
      if (pages === 1) throw new TypeError('alice has no amount')
    }
    const lines = await linesOf(await asked(edge, '?page_size=1'))
    expect(lines.at(-1)).toMatchObject({ problem: { status: 503 } })
    expect(edge.log[0]).toMatchObject({ level: 'error', event: 'request_failed', fields: { failure: 'TypeError' } })
    expect(JSON.stringify(edge.log)).not.toContain('alice')
  })

  test('a failure of the first page is 503 as for JSON', async () => {
    const edge = ledgerOf(3)
    edge.beforePage = () => {
      throw new ReadsUnavailable('away')
    }
    for (let times = 0; times <= STREAMS_AT_ONCE; times += 1) {
      expect(await refusalOf(await asked(edge))).toMatchObject({ status: 503, codes: ['ERR_DOWNSTREAM_FAILURE'] })
    }
  })

  test('E3: a revoked client gets no further page', async () => {
    const edge = ledgerOf(6)
    edge.beforePage = async (pages) => {
      if (pages !== 1) return
      edge.access.clients.set('client-viewer', { ...clientOf('client-viewer', 'viewer'), revokedAtMs: 1 })
      await edge.clock.advance(5_000)
    }
    const lines = await linesOf(await asked(edge, '?page_size=1'))
    expect(lines.at(-1)).toMatchObject({ problem: { status: 401, error_codes: ['ERR_UNAUTHORIZED'] } })
    expect([idsIn(lines).length, edge.queries.length]).toEqual([2, 2])
  })
})

describe('N3: a reader resumes an interrupted list', () => {
  test.for(['desc', 'asc'] as const)('after any line, in order %s, without gaps or duplicates', async (order) => {
    const edge = ledgerOf(7)
    const query = `?order=${order}&page_size=2`
    const whole = await linesOf(await asked(edge, query))
    const all = ids(order === 'asc' ? edge.rows : edge.rows.toReversed())
    expect(idsIn(whole)).toEqual(all)
    for (let cut = 0; cut < whole.length; cut += 1) {
      const { rows, token } = kept(whole.slice(0, cut))
      const rest = await linesOf(await asked(edge, `${query}&page_token=${token}`))
      expect([cut, ...rows, ...idsIn(rest)]).toEqual([cut, ...all])
      expect(rest.at(-1)).toMatchObject({ end: true, count: all.length - rows.length })
    }
  })

  test('with JSON after lines or lines after JSON, and keeps the count', async () => {
    const edge = ledgerOf(5)
    const token = await edge.tokenFor('viewer')
    const { next_page_token: ofPage } = await bodyOf(await edge.get('/v1/transactions?page_size=2', token))
    const [third, ofLines] = await linesOf(await asked(edge, `?page_size=1&page_token=${String(ofPage)}`))
    const fourth = `/v1/transactions?page_token=${String(ofLines?.['next_page_token'])}`
    const page = await bodyOf(await edge.get(fourth, token))
    const rest = (page['transactions'] as readonly Line[]).map((row) => row['txn_id'])
    expect([third?.['txn_id'], ...rest]).toEqual(ids(edge.rows.toReversed()).slice(2))
    expect(page['total_count']).toBe(5)
  })
})

describe('N4: the end of a feed', () => {
  test('has a token that continues with later transactions', async () => {
    const edge = ledgerOf(3)
    const first = await linesOf(await asked(edge, '?order=asc&page_size=2'))
    const { token } = kept(first)
    expect(first.at(-1)).toEqual({ end: true, count: 3, next_page_token: token })
    // The second page reports the end, so no third is read.
    expect(edge.queries).toHaveLength(2)
    edge.rows.push(transactionOf(3), transactionOf(4))
    const later = await linesOf(await asked(edge, `?order=asc&page_token=${token}`))
    expect(idsIn(later)).toEqual(ids(edge.rows.slice(3)))
    const again = await linesOf(await asked(edge, `?order=asc&page_token=${kept(later).token}`))
    expect(again).toEqual([{ end: true, count: 0, next_page_token: kept(later).token }])
  })

  test('is reached although transactions keep arriving: the next request returns the newer ones', async () => {
    const edge = ledgerOf(3)
    edge.beforePage = () => {
      const youngMs = edge.clock.now() + 60_000
      for (let more = 0; more < 3; more += 1) {
        edge.rows.push({ ...transactionOf(edge.rows.length), createdAtMs: youngMs })
      }
    }
    const lines = await linesOf(await asked(edge, '?order=asc&page_size=2'))
    expect(idsIn(lines)).toEqual(ids(edge.rows.slice(0, 4)))
    const { token } = kept(lines)
    edge.beforePage = () => undefined
    const rest = await linesOf(await asked(edge, `?order=asc&page_token=${token}`))
    expect(idsIn(rest)[0]).toBe(edge.rows[4]?.txnId)
  })

  test('is reached when the ledger returns the same place again', async () => {
    const stuck = { position: '7', txnId: 'txn_1' }
    let pages = 0
    const transactions = (): Promise<TransactionPage> => {
      pages += 1
      if (pages > MOST_PAGES) return Promise.reject(new Error('it does not end'))
      return Promise.resolve({ transactions: [], next: stuck, ended: true, count: null })
    }
    const behind = createEdgeFixture({ reads: { ...createFakeReads(), transactions } })
    const lines = await linesOf(await asked(behind, '?order=asc'))
    expect(lines.map((line) => line['end'])).toEqual([undefined, true])
  })
})

describe('concurrent streams', () => {
  async function clientsOf(edge: EdgeFixture, count: number): Promise<readonly string[]> {
    return Promise.all(Array.from({ length: count }, (_, number) => edge.tokenFor('viewer', `reader-${number}`)))
  }
  const open = (edge: EdgeFixture, token: string | undefined): Promise<Response> =>
    edge.get('/v1/transactions?page_size=1', token, LINES)

  test('a client has a limit of streams, which delays no JSON list and no other client', async () => {
    const edge = ledgerOf(3)
    const [one, other] = await clientsOf(edge, 2)
    const begun = await Promise.all(Array.from({ length: STREAMS_OF_ONE_CLIENT }, () => open(edge, one)))
    const refused = await open(edge, one)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refusalOf(refused)).toMatchObject({ status: 503, codes: ['ERR_OVERLOADED'] })
    expect((await edge.get('/v1/transactions', one)).status).toBe(200)
    expect((await open(edge, other)).status).toBe(200)
    expect(begun.map(({ status }) => status)).toEqual(begun.map(() => 200))
  })

  test('an edge has a limit for all clients; each stream that ends in any way frees a place', async () => {
    const edge = ledgerOf(3)
    const tokens = await clientsOf(edge, STREAMS_AT_ONCE + 1)
    const last = tokens.at(-1)
    const begin = async (): Promise<readonly Response[]> => {
      const begun = await Promise.all(tokens.slice(0, -1).map((token) => open(edge, token)))
      expect(begun.map(({ status }) => status)).toEqual(begun.map(() => 200))
      expect((await open(edge, last)).status).toBe(503)
      return begun
    }
    for (const response of await begin()) await response.text()
    for (const response of await begin()) await response.body?.cancel()
    await begin()
    await edge.clock.advance(STALLED_AFTER_MS)
    for (const response of await begin()) await response.text()
    expect(edge.log.map(({ fields }) => fields['end'])).toEqual(
      ['sent', 'left', 'stalled', 'sent'].flatMap((end) => Array.from({ length: STREAMS_AT_ONCE }, () => end)),
    )
  })
})
