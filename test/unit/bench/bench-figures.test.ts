/** Goal: latencies of an open loop count a stall for all that arrive in it; ratios divide by the earlier run. */
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { compare, type KeptRow } from '../../bench/comparison.ts'
import { openLoop, randomArrivals } from '../../bench/open-loop.ts'
import { RawConnection } from '../../bench/raw-connection.ts'
import type { Figures } from '../../bench/rows.ts'
import { Tally } from '../../bench/tally.ts'

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
    const options = { expectedStatus: 202, batches: false, most: 3, seconds: 60 }
    const tally = new Tally({ ...options, follower: undefined })
    const atMs = Float64Array.of(0, 1, LAST_ARRIVAL_MS)
    try {
      const lateness = await openLoop([connection], stock, atMs, tally)
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

describe('a comparison', () => {
  const row = (name: string, figures: Figures, conditions = '10 s'): KeptRow => ({
    name,
    figures,
    conditions,
    at: '2026-01-01T00:00:00Z',
  })

  test('divides each figure by the earlier one of the same row', () => {
    const now = [row('random', { perSecond: 300, p50Ms: 5, walBytes: 10 })]
    const before = [row('other', { perSecond: 1 }), row('random', { perSecond: 200, p50Ms: 10, cpuUs: 3 })]
    expect(compare(now, before)).toEqual([
      { name: 'random', ratios: { perSecond: 1.5, p50Ms: 0.5 }, otherConditions: null },
    ])
  })

  test('leaves out rows that are new and figures that were 0, and tells other conditions', () => {
    const now = [row('new', { perSecond: 1 }), row('idle', { othersShare: 0.5, cpuUs: 2 })]
    expect(compare(now, [row('idle', { othersShare: 0, cpuUs: 1 }, '2 s')])).toEqual([
      { name: 'idle', ratios: { cpuUs: 2 }, otherConditions: '2 s' },
    ])
  })
})
