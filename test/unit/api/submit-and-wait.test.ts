/** Goal: D8: one round trip returns the outcome of an order, and no failure during the wait hides that it was accepted. */
import { describe, expect, test } from 'vitest'
import type { Answer } from '../../../actors/account/outcome.ts'
import { ReadsUnavailable } from '../../../runtime/ports/ledger-reads.ts'
import { bodyOf, createEdgeFixture, type EdgeFixture, transactionView, TXN_ID } from './edge-fixture.ts'

const PATH = '/v1/transactions'
const ORDER = { type: 'debit', account_id: 'alice', amount: '10.50', idempotency_key: 'k', signature: 'c2ln' }
const RECEIPT = { txnId: TXN_ID, accountId: 'alice', shardId: 7, enqueuedAtMs: 1_760_000_000_000, groupId: null }
const ACCEPTED: Answer = { kind: 'accepted', receipt: RECEIPT, replayed: false, mismatch: false }
const PENDING = { status: 'pending', auditHash: null, processedAtMs: null } as const
const FAILED = {
  status: 'failed',
  auditHash: null,
  failure: { code: 'insufficient_funds', detail: 'The amount is larger than the available balance.' },
} as const
const MAX_WAITING = 256

function accepting(answer: Answer = ACCEPTED): EdgeFixture {
  const edge = createEdgeFixture()
  edge.gateway.outcome = { kind: 'answered', answer }
  return edge
}

function become(edge: EdgeFixture, state: Parameters<typeof transactionView>[0]): void {
  edge.reads.transactionViews.set(TXN_ID, transactionView(state))
}

async function order(edge: EdgeFixture, prefer?: string): Promise<Response> {
  const headers: Record<string, string> = prefer === undefined ? {} : { prefer }
  return edge.post(PATH, ORDER, await edge.tokenFor('transactor'), headers)
}

describe('POST /v1/transactions with Prefer: wait=N', () => {
  test('is 200 with the transaction, failure included, if it is final at once', async () => {
    const edge = accepting()
    become(edge, FAILED)
    const response = await order(edge, 'wait=10')
    expect(response.status).toBe(200)
    expect(response.headers.get('preference-applied')).toBe('wait=10')
    expect(response.headers.get('location')).toBe(`${PATH}/${TXN_ID}`)
    expect(response.headers.get('idempotency-replayed')).toBeNull()
    const detail = await edge.get(`${PATH}/${TXN_ID}`, await edge.tokenFor('transactor'))
    expect(await response.text()).toBe(await detail.text())
  })

  test('waits until it is final; a replay waits too and is marked as one', async () => {
    const edge = accepting({ ...ACCEPTED, replayed: true })
    become(edge, PENDING)
    const pending = order(edge, 'respond-async, wait=99')
    await edge.clock.timersSet(1)
    become(edge, {})
    await edge.clock.advance(1000)
    const response = await pending
    expect(await bodyOf(response)).toMatchObject({ txn_id: TXN_ID, status: 'completed' })
    expect(response.headers.get('preference-applied')).toBe('wait=30')
    expect(response.headers.get('idempotency-replayed')).toBe('true')
  })

  test('is the usual 202, byte for byte, when the time is up', async () => {
    const edge = accepting()
    become(edge, PENDING)
    const pending = order(edge, 'wait=2')
    await edge.clock.timersSet(1)
    await edge.clock.advance(2000)
    const [waited, usual] = [await pending, await order(edge)]
    expect([waited.status, usual.status]).toEqual([202, 202])
    expect(await waited.text()).toBe(await usual.text())
    expect(waited.headers.get('preference-applied')).toBe('wait=2')
    expect(edge.clock.pending()).toBe(0)
  })

  test('without the preference nothing is read, and no header is added', async () => {
    const edge = accepting()
    edge.reads.failure = new ReadsUnavailable('nobody asked')
    const response = await order(edge)
    expect(response.status).toBe(202)
    expect([response.headers.get('preference-applied'), response.headers.get('vary')]).toEqual([null, null])
    expect(edge.log).toEqual([])
  })

  test('is the 202 if the transaction cannot be read: the order was accepted', async () => {
    const edge = accepting()
    edge.reads.failure = new ReadsUnavailable('connect ECONNREFUSED 10.0.0.1')
    const response = await order(edge, 'wait=10')
    expect(await bodyOf(response)).toMatchObject({ txn_id: TXN_ID, status: 'pending' })
    expect([response.status, response.headers.get('preference-applied')]).toEqual([202, null])
    expect(edge.log.map(({ event }) => event)).toEqual(['port_unavailable'])
  })

  test('is the 202 if the client was revoked during the wait: the order was accepted, its outcome is not shown', async () => {
    const edge = accepting()
    become(edge, PENDING)
    const pending = order(edge, 'wait=30')
    await edge.clock.timersSet(1)
    edge.access.revokeSession(edge.access.families.length - 1)
    await edge.clock.advance(10_000)
    become(edge, {})
    await edge.clock.advance(20_000)
    const response = await pending
    expect(await bodyOf(response)).toMatchObject({ status: 'pending' })
    expect(response.status).toBe(202)
  })

  test('a refusal is returned at once', async () => {
    const edge = createEdgeFixture()
    expect((await order(edge, 'wait=30')).status).toBe(503)
    expect(edge.clock.pending()).toBe(0)
  })

  test('W1: beyond 256 waiting requests the response is immediate', async () => {
    const edge = accepting()
    become(edge, PENDING)
    const token = await edge.tokenFor('transactor')
    const ask = () => edge.post(PATH, ORDER, token, { prefer: 'wait=1' })
    const waiting = Array.from({ length: MAX_WAITING }, ask)
    await edge.clock.timersSet(MAX_WAITING)
    const response = await ask()
    expect([response.status, response.headers.get('preference-applied')]).toEqual([202, null])
    await edge.clock.advance(1000)
    const statuses = (await Promise.all(waiting)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([202]))
  })

  test('a batch ignores it', async () => {
    const edge = accepting()
    become(edge, {})
    const token = await edge.tokenFor('transactor')
    const response = await edge.post(`${PATH}/batch`, { submissions: [ORDER] }, token, { prefer: 'wait=10' })
    expect(response.headers.get('preference-applied')).toBeNull()
    expect(await bodyOf(response)).toMatchObject({ results: [{ status: 202, receipt: { status: 'pending' } }] })
  })
})
