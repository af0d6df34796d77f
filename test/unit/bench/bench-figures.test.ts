/**
 * Latencies of an open loop count a stall for each arrival in it. Percentiles and the output of pgbench are read
 * correctly.
 */
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { openLoop, randomArrivals } from '../../bench/load/open-loop.ts'
import { readDurations, readSummary } from '../../bench/scenes/pgbench.ts'
import { RawConnection } from '../../bench/load/raw-connection.ts'
import { latencyOf } from '../../bench/report/statistics.ts'
import { Tally } from '../../bench/load/tally.ts'

const STALL_MS = 200
const LAST_ARRIVAL_MS = 2
const ACCEPTED = 'HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n'

/** Replies to its first request after a stall, to the others at once. */
async function stallingServer() {
  let stalled = false
  const server = createServer((socket) => {
    socket.on('data', () => {
      setTimeout(() => socket.write(ACCEPTED), stalled ? 0 : STALL_MS)
      stalled = true
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return { server, port: (server.address() as AddressInfo).port }
}

describe('an open loop', () => {
  test('counts latency from the arrival: a stall delays all that arrive in it, and none is left out', async () => {
    const { server, port } = await stallingServer()
    const connection = await RawConnection.open('127.0.0.1', port)
    const stock = { requests: Array.from({ length: 3 }, () => Buffer.from('GET / HTTP/1.1\r\n\r\n')), next: 0 }
    const options = { expectedStatus: 202, batches: false, most: 3, gapsByAccount: false, seconds: 60 }
    const tally = new Tally({ ...options, follower: undefined })
    const atMs = Float64Array.of(0, 1, LAST_ARRIVAL_MS)
    try {
      const lateness = await openLoop([connection], stock, { atMs, ending: { asked: false } }, tally)
      // Timers may fire a millisecond early.
      const leastMs = STALL_MS - LAST_ARRIVAL_MS - 1
      const { count, p50Ms } = tally.latency()
      expect({ count, sent: lateness.count }).toEqual({ count: 3, sent: 3 })
      expect(p50Ms).toBeGreaterThanOrEqual(leastMs)
      expect(lateness.maxMs).toBeGreaterThanOrEqual(leastMs)
    } finally {
      connection.close()
      server.close()
    }
  })

  test('has as many arrivals as the rate says, in order, within the time', () => {
    const atMs = randomArrivals(3, 50)
    expect(atMs).toHaveLength(150)
    expect(atMs).toEqual(atMs.toSorted())
    expect(atMs[0]).toBeGreaterThanOrEqual(0)
    expect(atMs.at(-1)).toBeLessThan(3_000)
  })
})

describe('latencies summed up', () => {
  test('a percentile is the value below which that share lies, in whatever order the values come', () => {
    const values = Float64Array.from({ length: 10_000 }, (_, index) => 10_000 - index)
    expect(latencyOf(values)).toEqual({ count: 10_000, p50Ms: 5_001, p99Ms: 9_901, p999Ms: 9_991, maxMs: 10_000 })
  })

  test('nothing measured is zero of zero', () => {
    expect(latencyOf(new Float64Array(0))).toEqual({ count: 0, p50Ms: 0, p99Ms: 0, p999Ms: 0, maxMs: 0 })
  })
})

describe("pgbench's output", () => {
  const printed = [
    'pgbench (15.18 (Debian 15.18-0+deb12u1))',
    'transaction type: <builtin: TPC-B (sort of)>',
    'number of transactions actually processed: 4316',
    'number of failed transactions: 2 (0.046%)',
    'latency average = 4.489 ms',
    'initial connection time = 23.456 ms',
    'tps = 2225.437 (without initial connection time)',
  ]

  test('has the rate without connecting; before version 15 no failures', () => {
    expect(readSummary(printed.join('\n'))).toEqual({ transactions: 4316, failed: 2, perSecond: 2225.437 })
    const older = printed.filter((line) => !line.includes('failed'))
    expect(readSummary(older.join('\n'))).toEqual({ transactions: 4316, failed: 0, perSecond: 2225.437 })
  })

  test('without a rate is an error', () => {
    expect(() => readSummary('pgbench: error: client 0 aborted')).toThrow('pgbench said no rate')
  })

  test('in its log has microseconds of each transaction, or a word for a failure', () => {
    const log = '0 1 4489 0 1700000000 123456\n1 1 failed 0 1700000000 123457\n0 2 250 0 1700000000 123458\n'
    expect(readDurations(log)).toEqual([4.489, 0.25])
  })
})
