/** D8: one round trip returns the outcome of an order. A failure during the wait does not hide its acceptance. */
import { expect, test } from 'vitest'
import { ReadsUnavailable } from '../../../../runtime/ports/ledger-reads.ts'
import {
  answering,
  bodyOf,
  createEdgeFixture,
  type EdgeFixture,
  transactionView,
  TXN_ID,
} from '../fakes/edge-fixture.ts'
import { WRITTEN } from './written-requests.ts'

const PATH = '/v1/transactions'
const { body: ORDER, answer: ACCEPTED } = WRITTEN.submitTransaction
const PENDING = { status: 'pending', auditHash: null, processedAtMs: null } as const
const failure = { code: 'insufficient_funds', detail: 'The amount is larger than the available balance.' } as const
const FAILED = { status: 'failed', auditHash: null, failure } as const
const MAX_WAITING = 256

function accepting(state?: Parameters<typeof transactionView>[0], changes: object = {}): EdgeFixture {
  const edge = answering({ ...ACCEPTED, ...changes })
  if (state !== undefined) become(edge, state)
  return edge
}

function become(edge: EdgeFixture, state: Parameters<typeof transactionView>[0]): void {
  edge.reads.transactionViews.set(TXN_ID, transactionView(state))
}

async function order(edge: EdgeFixture, prefer?: string): Promise<Response> {
  return edge.post(PATH, ORDER, await edge.tokenFor('transactor'), prefer === undefined ? {} : { prefer })
}

test('the reply is 200 with the transaction if it is final at once, also if it failed', async () => {
  const edge = accepting(FAILED)
  const response = await order(edge, 'wait=10')
  const names = ['preference-applied', 'location', 'idempotency-replayed']
  expect(response.status).toBe(200)
  expect(names.map((name) => response.headers.get(name))).toEqual(['wait=10', `${PATH}/${TXN_ID}`, null])
  const detail = await edge.get(`${PATH}/${TXN_ID}`, await edge.tokenFor('transactor'))
  expect(await response.text()).toBe(await detail.text())
})

test('the reply waits until the transaction is final; a replay waits too and is marked', async () => {
  const edge = accepting(PENDING, { replayed: true })
  const pending = order(edge, 'respond-async, wait=99')
  await edge.clock.timersSet(1)
  become(edge, {})
  await edge.clock.advance(1000)
  const response = await pending
  expect(await bodyOf(response)).toMatchObject({ txn_id: TXN_ID, status: 'completed' })
  expect(response.headers.get('preference-applied')).toBe('wait=30')
  expect(response.headers.get('idempotency-replayed')).toBe('true')
})

test('the reply is the usual 202, byte for byte, when the time is up', async () => {
  const edge = accepting(PENDING)
  const pending = order(edge, 'wait=2')
  await edge.clock.timersSet(1)
  await edge.clock.advance(2000)
  const [waited, usual] = [await pending, await order(edge)]
  expect([waited.status, usual.status]).toEqual([202, 202])
  expect(await waited.text()).toBe(await usual.text())
  expect(waited.headers.get('preference-applied')).toBe('wait=2')
  expect(edge.clock.pending()).toBe(0)
})

test('without the preference the edge reads nothing and adds no header', async () => {
  const edge = accepting()
  edge.reads.failure = new ReadsUnavailable('not called')
  const response = await order(edge)
  const headers = ['preference-applied', 'vary'].map((name) => response.headers.get(name))
  expect([response.status, headers, edge.log]).toEqual([202, [null, null], []])
})

test('the reply is 202 if the transaction cannot be read, since the order was accepted', async () => {
  const edge = accepting()
  edge.reads.failure = new ReadsUnavailable('connect ECONNREFUSED 10.0.0.1')
  const response = await order(edge, 'wait=10')
  expect(await bodyOf(response)).toMatchObject({ txn_id: TXN_ID, status: 'pending' })
  expect([response.status, response.headers.get('preference-applied')]).toEqual([202, null])
  expect(edge.log.map(({ event }) => event)).toEqual(['port_unavailable'])
})

test('the reply is 202 without the outcome if the client was revoked meanwhile', async () => {
  const edge = accepting(PENDING)
  const pending = order(edge, 'wait=30')
  await edge.clock.timersSet(1)
  edge.access.revokeSession(edge.access.families.length - 1)
  await edge.clock.advance(10_000)
  become(edge, {})
  await edge.clock.advance(20_000)
  const response = await pending
  expect([response.status, await bodyOf(response)]).toMatchObject([202, { status: 'pending' }])
})

test('a refusal is returned at once', async () => {
  const edge = createEdgeFixture()
  expect((await order(edge, 'wait=30')).status).toBe(503)
  expect(edge.clock.pending()).toBe(0)
})

test('W1: beyond 256 waiting requests the reply is immediate', async () => {
  const edge = accepting(PENDING)
  const token = await edge.tokenFor('transactor')
  const ask = () => edge.post(PATH, ORDER, token, { prefer: 'wait=1' })
  const waiting = Array.from({ length: MAX_WAITING }, ask)
  await edge.clock.timersSet(MAX_WAITING)
  const response = await ask()
  expect([response.status, response.headers.get('preference-applied')]).toEqual([202, null])
  await edge.clock.advance(1000)
  expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([202]))
})

test('a batch ignores the preference', async () => {
  const edge = accepting({})
  const token = await edge.tokenFor('transactor')
  const response = await edge.post(`${PATH}/batch`, { submissions: [ORDER] }, token, { prefer: 'wait=10' })
  expect(response.headers.get('preference-applied')).toBeNull()
  expect(await bodyOf(response)).toMatchObject({ results: [{ status: 202, receipt: { status: 'pending' } }] })
})
