/** The bench counts gaps and replies correctly. */
import { describe, expect, test } from 'vitest'
import { Gaps } from '../../bench/report/gaps.ts'
import { Tally } from '../../bench/load/tally.ts'

describe('gaps', () => {
  test('the longest gap of each kind counts from the start, and between those of its own kind', () => {
    const gaps = new Gaps(100)
    for (const [kind, atMs] of [
      ['a', 110],
      ['b', 160],
      ['a', 150],
      ['a', 155],
      ['b', 161],
    ] as const)
      gaps.note(kind, atMs)
    expect([...gaps.longest()]).toEqual([40, 60])
  })
})

describe('replies of a run', () => {
  const options = {
    expectedStatus: 202,
    batches: false,
    most: 10,
    follower: undefined,
    gapsByAccount: false,
    seconds: 60,
  }

  test('of a batch, accepted submissions count, and refused ones do not', () => {
    const tally = new Tally({ ...options, expectedStatus: 200, batches: true })
    const results = [{ status: 202, receipt: {} }, { status: 503, problem: { status: 503 } }, { status: 202 }]
    tally.take(200, () => JSON.stringify({ results }), performance.now())
    expect(tally).toMatchObject({ accepted: 2, answeredInTime: 1, statuses: { 200: 1 }, surprises: [] })
  })

  test('another status is counted and reported, and does not enter latencies', () => {
    const tally = new Tally(options)
    tally.take(503, () => 'overloaded', performance.now())
    expect(tally).toMatchObject({ accepted: 0, answeredInTime: 0, statuses: { 503: 1 }, surprises: ['503 overloaded'] })
    expect(tally.latency().count).toBe(0)
  })

  test('gaps are measured by account on request', () => {
    const tally = new Tally({ ...options, gapsByAccount: true })
    for (const account of ['alice', 'bob', 'alice']) {
      tally.take(202, () => JSON.stringify({ txn_id: 't', account_id: account }), performance.now())
    }
    expect(tally.gapsByAccount()?.count).toBe(2)
    expect(new Tally(options).gapsByAccount()).toBeNull()
  })

  test('a reply after the end of the run is accepted, but not in time', () => {
    const tally = new Tally({ ...options, seconds: -1 })
    tally.take(202, () => '', performance.now())
    expect(tally).toMatchObject({ accepted: 1, answeredInTime: 0 })
  })
})
