/** The time to open a connection does not count towards its limit, and work without a waiting caller does not begin. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LedgerStoreUnavailable } from '../../../runtime/ports/ledger-store.ts'
import type { Connection, Sql } from '../../../infra/postgres/connection/connection.ts'
import { createLanes } from '../../../infra/postgres/store/lane.ts'

const TIMEOUT_MS = 1_000
const LONG_MS = 0.6 * TIMEOUT_MS
const TOO_LONG_MS = 1.2 * TIMEOUT_MS

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function taking<T>(durationMs: number, result: () => T): Promise<T> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(result()), durationMs)
  })
}

function lanesThatOpenIn(openingMs: number): {
  readonly lanes: ReturnType<typeof createLanes>
  readonly connections: Connection[]
} {
  const connections: Connection[] = []
  const open = (): Promise<Connection> =>
    taking(openingMs, () => {
      let isOpen = true
      const connection: Connection = {
        sql: {} as Sql,
        backend: { pid: connections.length, startedAt: '' },
        isOpen: () => isOpen,
        onClosed: () => undefined,
        destroy: () => void (isOpen = false),
        end: () => Promise.resolve(),
      }
      connections.push(connection)
      return connection
    })
  return { lanes: createLanes({ count: 1, timeoutMs: TIMEOUT_MS, open }), connections }
}

test('work that waited for the lane to open fails in time, and the opened lane serves the next', async () => {
  const { lanes, connections } = lanesThatOpenIn(LONG_MS)
  const first = expect(lanes.run(() => taking(LONG_MS, () => 'first'))).rejects.toThrow(LedgerStoreUnavailable)
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS)
  await first
  const answered = vi.fn()
  void lanes.run(() => taking(LONG_MS, () => 'second')).then(answered)
  await vi.advanceTimersByTimeAsync(LONG_MS)
  expect(answered).toHaveBeenCalledWith('second')
  expect(connections.map(({ isOpen }) => isOpen())).toEqual([true])
})

test('a lane that does not reply in time is discarded', async () => {
  const { lanes, connections } = lanesThatOpenIn(LONG_MS)
  const warm = lanes.run(() => Promise.resolve('open'))
  await vi.advanceTimersByTimeAsync(LONG_MS)
  expect(await warm).toBe('open')
  const silent = expect(lanes.run(() => new Promise(() => undefined))).rejects.toThrow(LedgerStoreUnavailable)
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS)
  await silent
  expect(connections.map(({ isOpen }) => isOpen())).toEqual([false])
})

test('work whose caller gave up does not begin', async () => {
  const { lanes, connections } = lanesThatOpenIn(TOO_LONG_MS)
  const work = vi.fn(() => Promise.resolve('done'))
  const first = expect(lanes.run(work)).rejects.toThrow(LedgerStoreUnavailable)
  await vi.advanceTimersByTimeAsync(TOO_LONG_MS)
  await first
  expect(work).not.toHaveBeenCalled()
  expect(await lanes.run(work)).toBe('done')
  expect(connections).toHaveLength(1)
})
