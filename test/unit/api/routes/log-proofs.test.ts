/** Proofs that the log has the entries of chains and receipts, and the keys with which an account's entries are found. */
import { describe, expect, test } from 'vitest'
import { encodeUlid } from '../../../../actors/identifiers.ts'
import {
  accountView,
  bodyOf,
  clientOf,
  createEdgeFixture,
  type EdgeFixture,
  refusalOf,
  transactionView,
} from '../fakes/edge-fixture.ts'
import { FAKE_PROOF } from '../fakes/fake-log.ts'

const TXN_ID = `txn_${encodeUlid({ timeMs: 1_760_000_000_000, counter: 1, shardId: 0, random: 0 })}`
const NOT_FOUND = { status: 404, codes: ['ERR_NOT_FOUND'] }

/** The fake log has entry 0, entry 1 is not in it yet, and there is no other. */
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
    [1, 'The log does not have the entry yet. It will within seconds.', '1'],
    [2, 'There is no such entry.', null],
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
      expect(await refusalOf(refused)).toMatchObject({ status: 403, codes: ['ERR_FORBIDDEN'] })
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
