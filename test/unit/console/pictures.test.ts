/** Figures that the console derives, and the pictures that it draws. */
import { describe, expect, test } from 'vitest'
import type { GroupLeg, Shard } from '../../../api/client/index.ts'
import { groupPicture } from '../../../api/console/pages/group/group-picture.ts'
import { summarizeShards } from '../../../api/console/pages/operation/shard-summary.ts'
import { countOrders, lastSeconds, meanRate } from '../../../api/console/pages/overview/order-rate.ts'
import { scaleOf, stepPath, thinned } from '../../../api/console/parts/chart-points.ts'
import { eventTypeText, transactionIn } from '../../../api/console/parts/event-transaction.ts'
import type { ArrivedEvent } from '../../../api/console/session/event-feed.ts'

function arrived(
  arrivedAtMs: number,
  origin: 'client' | 'ledger',
  type = 'ledger.transaction.completed.v1',
): ArrivedEvent {
  const event = { type, subject: 'alice', data: { transaction: { txn_id: 'txn_1', origin } } } as unknown
  return { event: event as ArrivedEvent['event'], arrivedAtMs }
}

describe('the rate of orders', () => {
  test('counts orders of clients by the second, and nothing that the ledger did itself', () => {
    const counts = countOrders(
      new Map(),
      [arrived(10_100, 'client'), arrived(10_900, 'client'), arrived(10_950, 'ledger'), arrived(11_000, 'client')],
      12_000,
    )
    expect(lastSeconds(counts, 12_500, 3)).toEqual([0, 2, 1])
    expect(meanRate(lastSeconds(counts, 12_500, 3))).toBe(1)
    expect(meanRate([])).toBe(0)
  })

  test('forgets seconds that are no longer shown', () => {
    const counts = countOrders(new Map(), [arrived(1_000, 'client')], 1_000)
    expect(countOrders(counts, [], 200_000).size).toBe(0)
  })

  test('takes only events of transactions for transactions', () => {
    expect(transactionIn(arrived(0, 'client', 'ledger.account.registered.v1').event)).toBeUndefined()
    expect(eventTypeText('ledger.account.leg_settled.v1')).toBe('account leg settled')
  })
})

test('shards are summed up by their owners', () => {
  const shard = (owner: string | null, health_state: Shard['health_state'], txn_count: number): Shard => ({
    shard_id: 0,
    owner,
    epoch: 1,
    health_state,
    txn_count,
    updated_at: '',
  })
  const shards = [shard('node-10', 'healthy', 2), shard('node-2', 'draining', 3), shard(null, 'unavailable', 5)]
  expect(summarizeShards(shards)).toEqual({
    total: 3,
    healthy: 1,
    unowned: 1,
    transactions: 10,
    nodes: [
      { node: 'node-2', shards: 1, draining: 1, transactions: 3 },
      { node: 'node-10', shards: 1, draining: 0, transactions: 2 },
    ],
  })
})

describe('a chart', () => {
  const points = [
    { atMs: 0, value: 10 },
    { atMs: 50, value: 20 },
  ]

  test('has steps: a balance stays until it changes, up to the end', () => {
    expect(stepPath(points, scaleOf(points, 100), 200, 100)).toBe('M0,50H100V0H200')
  })

  test('is drawn also of nothing, and of zero', () => {
    expect(stepPath([], scaleOf([], 100), 200, 100)).toBe('')
    const zero = [{ atMs: 100, value: 0 }]
    expect(stepPath(zero, scaleOf(zero, 100), 200, 100)).toBe('M0,100H200')
  })

  test('with too many points keeps the last of each span', () => {
    const many = Array.from({ length: 10 }, (_, index) => ({ atMs: index, value: index }))
    expect(thinned(many, 5).map(({ value }) => value)).toEqual([1, 3, 5, 7, 9])
    expect(thinned(many, 10)).toBe(many)
  })
})

describe('the picture of a group', () => {
  const leg = (account_id: string, type: GroupLeg['type'], to_account_id?: string): GroupLeg => ({
    account_id,
    type,
    amount: '1',
    leg_status: 'completed',
    ...(to_account_id === undefined ? {} : { to_account_id }),
  })

  test('has givers on the left, receivers on the right, and an arrow for each leg', () => {
    const { nodes, arrows, height } = groupPicture([
      leg('alice', 'debit'),
      leg('bob', 'credit'),
      leg('alice', 'transfer', 'carol'),
    ])
    expect(nodes.map(({ accountId, side }) => `${side} ${accountId}`)).toEqual([
      'left alice',
      'right bob',
      'right carol',
    ])
    expect(arrows.map(({ span, fromY, toY }) => [span, fromY, toY])).toEqual([
      ['left', height / 2, height / 2],
      ['right', height / 2, height / 4],
      ['whole', height / 2, (height * 3) / 4],
    ])
  })

  test('of no legs is empty', () => {
    expect(groupPicture([])).toMatchObject({ nodes: [], arrows: [] })
  })
})
