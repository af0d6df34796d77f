/** The log of the ledger, as anybody may read it, proofs of entries and receipts, and the log keys of accounts. */
import { describe, expect, test, vi } from 'vitest'
import { encodeUlid } from '../../../../actors/identifiers.ts'
import type { LedgerLog } from '../../../../runtime/ports/ledger-log.ts'
import { LogStoreUnavailable } from '../../../../runtime/ports/log-store.ts'
import {
  accountView,
  bodyOf,
  clientOf,
  createEdgeFixture,
  type EdgeFixture,
  refusalOf,
  transactionView,
} from '../fakes/edge-fixture.ts'
import { createFakeLog, FAKE_KEY, FAKE_NOTE, FAKE_PROOF } from '../fakes/fake-log.ts'

test('the head and the key of the log are texts for everybody', async () => {
  const edge = createEdgeFixture()
  const head = await edge.app.request('/log/checkpoint')
  expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
    200,
    'text/plain; charset=utf-8',
    FAKE_NOTE,
  ])
  expect(head.headers.get('cache-control')).toBe('public, max-age=1')
  expect(await (await edge.app.request('/log/key')).text()).toBe(`${FAKE_KEY}\n`)
})

test('before the first head there is none, and a store that does not respond is 503', async () => {
  const checkpoint = vi.fn<LedgerLog['checkpoint']>(() => Promise.resolve(undefined))
  const edge = createEdgeFixture({ ledgerLog: { ...createFakeLog(), checkpoint } })
  expect(await refusalOf(await edge.app.request('/log/checkpoint'))).toMatchObject({
    status: 404,
    codes: ['ERR_NOT_FOUND'],
  })
  checkpoint.mockRejectedValue(new LogStoreUnavailable('of a test'))
  expect((await edge.app.request('/log/checkpoint')).status).toBe(503)
  expect(edge.log).toContainEqual(expect.objectContaining({ level: 'warn', event: 'port_unavailable' }))
})

test.for([
  ['0/000', 256 * 32, 'public, max-age=31536000, immutable'],
  ['0/001.p/44', 44 * 32, 'public, max-age=300'],
  ['entries/001.p/1', 32, 'public, max-age=300'],
] as const)('a complete tile may be kept for a year, another for minutes: %s', async ([path, bytes, cached]) => {
  const reply = await createEdgeFixture().app.request(`/log/tile/${path}`)
  expect([reply.status, (await reply.arrayBuffer()).byteLength]).toEqual([200, bytes])
  expect(reply.headers.get('content-type')).toBe('application/octet-stream')
  expect(reply.headers.get('cache-control')).toBe(cached)
})

test.for([
  '0/001',
  '0/1',
  '0/0000',
  '0/000.p/0',
  '0/000.p/256',
  '0/000.p/257',
  '64/000',
  '-1/000',
  'entries/x000/000',
  '0/..',
])('a path that no tile has is 404: %s', async (path) => {
  expect((await createEdgeFixture().app.request(`/log/tile/${path}`)).status).toBe(404)
})

test('an entry is proved, or not yet, or unknown', async () => {
  const edge = createEdgeFixture()
  const token = await edge.tokenFor('viewer')
  const proofOf = (sequence: string) => edge.get(`/v1/accounts/alice/audit-chain/${sequence}/proof`, token)
  const proved = await proofOf('0')
  expect([proved.status, await proved.text()]).toEqual([200, FAKE_PROOF])
  const pending = await proofOf('1')
  expect(await refusalOf(pending)).toMatchObject({ status: 404, codes: ['ERR_NOT_FOUND'] })
  for (const sequence of ['2', '-1', '01', '1e3', '9999999999999999', 'x']) {
    expect((await proofOf(sequence)).status).toBe(404)
  }
})

const TXN_ID = `txn_${encodeUlid({ timeMs: 1_760_000_000_000, counter: 1, shardId: 0, random: 0 })}`
const NOT_FOUND = { status: 404, codes: ['ERR_NOT_FOUND'] }

/** The fake log has entry 0, entry 1 is not in it yet, it lacks entry 3, and there is no other. */
function withReceipt(sequence: number | null) {
  const edge = createEdgeFixture()
  edge.reads.accountViews.set('alice', accountView('alice'))
  edge.reads.transactionViews.set(TXN_ID, transactionView({ txnId: TXN_ID, accountId: 'alice' }))
  edge.reads.receipts.set(TXN_ID, { payload: JSON.stringify({ account_id: 'alice', sequence }), signature: 's' })
  return edge
}

/** The edge caches the scope of a client, so each scope needs its own client. */
function limitedTo(account: string, edge: EdgeFixture): Promise<string> {
  const clientId = `client-of-${account}`
  edge.access.clients.set(clientId, { ...clientOf(clientId, 'viewer'), accounts: [account] })
  return edge.tokenFor('viewer', clientId)
}

describe('a receipt with proof=log', () => {
  test('is answered with the proof of its entry, as text', async () => {
    const edge = withReceipt(0)
    const response = await edge.get(`/v1/transactions/${TXN_ID}/receipt?proof=log`, await edge.tokenFor('viewer'))
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      200,
      'text/plain; charset=utf-8',
      FAKE_PROOF,
    ])
  })

  test('is the proof of the entry in the chain', async () => {
    const edge = withReceipt(0)
    const response = await edge.get('/v1/accounts/alice/audit-chain/0/proof', await edge.tokenFor('viewer'))
    expect([response.status, await response.text()]).toEqual([200, FAKE_PROOF])
  })

  test.for([
    [1, 'The entry is not yet in a published head of the log.', '1'],
    [2, 'There is no such entry.', null],
    [3, 'The log lacks the entry, although it has later ones: the entry or the log was changed.', null],
    [null, 'The transaction failed: it has no entry in a chain, and none in the log.', null],
  ] as const)('of entry %s is not found: %s', async ([sequence, detail, retryAfter]) => {
    const edge = withReceipt(sequence)
    const response = await edge.get(`/v1/transactions/${TXN_ID}/receipt?proof=log`, await edge.tokenFor('viewer'))
    expect(await refusalOf(response.clone())).toMatchObject(NOT_FOUND)
    expect([(await bodyOf(response))['detail'], response.headers.get('retry-after')]).toEqual([detail, retryAfter])
  })

  test.for(['', 'chain', 'LOG', 'log&proof=log'])('has no other value: %j is refused', async (value) => {
    const edge = withReceipt(0)
    const token = await edge.tokenFor('viewer')
    const response = await edge.get(`/v1/transactions/${TXN_ID}/receipt?proof=${value}`, token)
    expect(await refusalOf(response)).toEqual({ status: 400, codes: ['ERR_INVALID_QUERY'], fields: ['proof'] })
  })

  test('is not found outside the scope of the client, and within it is', async () => {
    const edge = withReceipt(0)
    const path = `/v1/transactions/${TXN_ID}/receipt?proof=log`
    expect(await refusalOf(await edge.get(path, await limitedTo('bob', edge)))).toMatchObject(NOT_FOUND)
    expect((await edge.get(path, await limitedTo('alice', edge))).status).toBe(200)
  })
})

describe('the log key of an account', () => {
  const KEY = { account_id: 'alice', log_key: Buffer.alloc(32, 7).toString('base64') }

  test('is for administrators', async () => {
    const edge = withReceipt(0)
    const response = await edge.get('/v1/accounts/alice/log-key', await edge.tokenFor('admin'))
    expect([response.status, await bodyOf(response)]).toEqual([200, KEY])
    for (const role of ['viewer', 'transactor'] as const) {
      const refused = await edge.get('/v1/accounts/alice/log-key', await edge.tokenFor(role))
      expect(await refusalOf(refused.clone())).toMatchObject({ status: 403, codes: ['ERR_FORBIDDEN'] })
      expect((await bodyOf(refused))['detail']).toContain('finds also the entries that the account will have')
    }
  })

  test('is for every client that is limited to the account', async () => {
    const edge = withReceipt(0)
    const response = await edge.get('/v1/accounts/alice/log-key', await limitedTo('alice', edge))
    expect([response.status, await bodyOf(response)]).toEqual([200, KEY])
  })

  test('is not there for an unknown account, and for an erased one no more', async () => {
    const edge = withReceipt(0)
    const token = await edge.tokenFor('admin')
    edge.reads.accountViews.set('alice', accountView('alice', { status: 'erased' }))
    for (const account of ['alice', 'bob']) {
      expect(await refusalOf(await edge.get(`/v1/accounts/${account}/log-key`, token))).toMatchObject(NOT_FOUND)
    }
  })
})
