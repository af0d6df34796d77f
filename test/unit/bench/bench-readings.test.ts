/** Goal: what the bench reads elsewhere and sums up is what was there: percentiles and replies. */
import { describe, expect, test } from 'vitest'
import { latencyOf } from '../../bench/statistics.ts'
import { Tally } from '../../bench/tally.ts'

describe('what the bench sums up', () => {
  test('a percentile is the value below which that share lies, whatever order they come in', () => {
    const values = Float64Array.from({ length: 10_000 }, (_, index) => 10_000 - index)
    expect(latencyOf(values)).toEqual({ count: 10_000, p50Ms: 5_001, p99Ms: 9_901, p999Ms: 9_991, maxMs: 10_000 })
  })

  test('nothing measured is zero of zero', () => {
    expect(latencyOf(new Float64Array(0))).toEqual({ count: 0, p50Ms: 0, p99Ms: 0, p999Ms: 0, maxMs: 0 })
  })
})

describe('what came back in a run', () => {
  const options = {
    expectedStatus: 202,
    batches: false,
    most: 10,
    follower: undefined,
    seconds: 60,
  }

  test('of a batch each submission counts that was accepted, and none that was refused', () => {
    const tally = new Tally({ ...options, expectedStatus: 200, batches: true })
    const results = [{ status: 202, receipt: {} }, { status: 503, problem: { status: 503 } }, { status: 202 }]
    tally.take(200, () => JSON.stringify({ results }), performance.now())
    expect(tally).toMatchObject({ accepted: 2, answeredInTime: 1, statuses: { 200: 1 }, surprises: [] })
  })

  test('another status is counted and told, and has no part in latencies', () => {
    const tally = new Tally(options)
    tally.take(503, () => 'overloaded', performance.now())
    expect(tally).toMatchObject({ accepted: 0, answeredInTime: 0, statuses: { 503: 1 }, surprises: ['503 overloaded'] })
    expect(tally.latency().count).toBe(0)
  })

  test('a reply after the time is over is none in time', () => {
    const tally = new Tally({ ...options, seconds: -1 })
    tally.take(202, () => '', performance.now())
    expect(tally).toMatchObject({ accepted: 1, answeredInTime: 0 })
  })
})
