/** An edge bounds the cost of sums over linked groups, for any size and any number of concurrent requests. */
import { expect, test, vi } from 'vitest'
import type { TransactionPage, TransactionQuery } from '../../../../runtime/ports/ledger-reads.ts'
import {
  bodyOf,
  clientOf,
  createEdgeFixture,
  groupView,
  refusalOf,
  transactionView,
  TXN_ID,
} from '../fakes/edge-fixture.ts'

const PATH = '/v1/settlement-groups'

function groupId(number: number): string {
  return `3f2b8a52-0d5e-4a1e-9a0f-${String(number).padStart(12, '0')}`
}

/** Linked groups of `size` credits of 1; reads of more than 100 transactions wait for `release`. */
function fixture(size: number) {
  const edge = createEdgeFixture()
  let release: (() => void) | undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  const large: string[] = []
  const read = vi.spyOn(edge.reads, 'transactions').mockImplementation(async (query): Promise<TransactionPage> => {
    if (query.limit > 100 && query.after === null) {
      large.push(query.groupId ?? '')
      await released
    }
    return pageOf(query, size)
  })
  for (let number = 0; number < 100; number += 1) {
    const id = groupId(number)
    edge.reads.groupViews.set(id, groupView({ groupId: id, status: 'linked', termsHash: null, legs: [] }))
  }
  const tokenOf = async (clientId: string, accounts: readonly string[] | null = null): Promise<string> => {
    edge.access.clients.set(clientId, { ...clientOf(clientId, 'admin'), accounts })
    return edge.tokenFor('admin', clientId)
  }
  return { edge, large, read, tokenOf, release: () => release?.() }
}

function pageOf({ groupId, limit, after }: TransactionQuery, size: number): TransactionPage {
  const start = after === null ? 0 : Number(after.txnId)
  const end = Math.min(size, start + limit)
  const rows = Array.from({ length: end - start }, (_, row) =>
    transactionView({ groupId, accountId: (start + row) % 2 === 0 ? 'alice' : 'bob', amount: '1' }),
  )
  const next = end < size ? { position: null, txnId: String(end) } : null
  return { transactions: rows, next, ended: next === null, count: null }
}

test('L1: two large groups are summed at once and 16 wait, at most 4 of one client; small ones take no slot', async () => {
  const { edge, large, tokenOf, release } = fixture(2_500)
  const answers: Promise<Response>[] = []
  for (let number = 0; number < 30; number += 1) {
    const token = await tokenOf(`client-${number % 5}`)
    answers.push(edge.get(`${PATH}/${groupId(number)}`, token))
  }
  let refused = 0
  for (const answer of answers) void answer.then(() => (refused += 1))
  await expect.poll(() => [large.length, refused]).toEqual([2, 30 - 18])
  release()
  const responses = await Promise.all(answers)
  const served = responses.filter(({ status }) => status === 200)
  expect(served).toHaveLength(18)
  for (const response of served) {
    expect(await bodyOf(response)).toMatchObject({ net: [{ amount: '2500' }], balanced: false })
  }
  for (const response of responses.filter(({ status }) => status !== 200)) {
    expect(response.headers.get('retry-after')).toBe('1')
    expect(await refusalOf(response)).toMatchObject({ status: 503, codes: ['ERR_OVERLOADED'] })
  }
  expect(new Set(responses.slice(20).map(({ status }) => status))).toEqual(new Set([503]))

  const small = fixture(100)
  const token = await small.tokenOf('ann')
  const all = await Promise.all(
    Array.from({ length: 100 }, (_, number) => small.edge.get(`${PATH}/${groupId(number)}`, token)),
  )
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]))
  expect(small.read).toHaveBeenCalledTimes(100)
})

test('L2: equal waiting requests share one sum, and no request joins a sum in progress', async () => {
  const { edge, large, read, tokenOf, release } = fixture(101)
  const [ann, bob, scoped] = [await tokenOf('ann'), await tokenOf('bob'), await tokenOf('carl', ['alice'])]
  const path = `${PATH}/${groupId(0)}`
  const first = edge.get(path, ann)
  await expect.poll(() => large).toHaveLength(1)
  const second = edge.get(path, ann)
  await expect.poll(() => large).toHaveLength(2)
  const rest = Array.from({ length: 100 }, (_, request) => edge.get(path, request % 2 === 0 ? ann : bob))
  const own = edge.get(path, scoped)
  // Each request reads one page to find that the group is large; the scoped one also reads for its own legs.
  await vi.waitFor(() => expect(read).toHaveBeenCalledTimes(104 + large.length), 10_000)
  await new Promise((resolve) => void setImmediate(resolve))
  release()
  for (const answer of [first, second, ...rest]) {
    expect(await bodyOf(await answer)).toMatchObject({ net: [{ amount: '101' }] })
  }
  expect(await bodyOf(await own)).toMatchObject({ net: [{ amount: '51' }] })
  expect(large).toHaveLength(4)
})

test('L1: a started revert is 202, without the sums if there is no slot for them', async () => {
  const { edge, large, read, tokenOf, release } = fixture(101)
  const token = await tokenOf('ann')
  const reads = Array.from({ length: 4 }, (_, number) => edge.get(`${PATH}/${groupId(number)}`, token))
  // Each reads one page to find that the group is large; the last two then wait.
  await expect.poll(() => read).toHaveBeenCalledTimes(4 + 2)
  await new Promise((resolve) => void setImmediate(resolve))
  expect(large).toHaveLength(2)
  const group = edge.reads.groupViews.get(groupId(9))
  if (group === undefined) throw new Error('there is no group')
  edge.gateway.outcome = { kind: 'answered', answer: { kind: 'group_reverting', group } }
  edge.reads.transactionViews.set(TXN_ID, transactionView({ groupId: groupId(9) }))
  const reverted = await edge.post(`${PATH}/${groupId(9)}/revert`, { reason: 'a test', txn_ids: [TXN_ID] }, token)
  expect(reverted.status).toBe(202)
  expect(await bodyOf(reverted)).not.toHaveProperty('net')
  release()
  await Promise.all(reads)
})
