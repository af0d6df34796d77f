/** Goal: what opening a connection took is never held against the connection. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LedgerStoreUnavailable } from '../../../runtime/ports/ledger-store.ts'
import type { Connection, Sql } from '../../../infra/postgres/connection.ts'
import { createLanes } from '../../../infra/postgres/lane.ts'

const TIMEOUT_MS = 1_000
const LONG_MS = 0.6 * TIMEOUT_MS

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function taking<T>(durationMs: number, result: () => T): Promise<T> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(result()), durationMs)
  })
}

function lanesThatOpenSlowly(): { readonly lanes: ReturnType<typeof createLanes>; readonly connections: Connection[] } {
  const connections: Connection[] = []
  const open = (): Promise<Connection> =>
    taking(LONG_MS, () => {
      let isOpen = true
      const connection: Connection = {
        sql: (() => undefined) as unknown as Sql,
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

test('who waited for it to open fails in time, and the next is answered by it', async () => {
  const { lanes, connections } = lanesThatOpenSlowly()
  const first = expect(lanes.run(() => taking(LONG_MS, () => 'first'))).rejects.toThrow(LedgerStoreUnavailable)
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS)
  await first
  const answered = vi.fn()
  void lanes.run(() => taking(LONG_MS, () => 'second')).then(answered)
  await vi.advanceTimersByTimeAsync(LONG_MS)
  expect(answered).toHaveBeenCalledWith('second')
  expect(connections.map(({ isOpen }) => isOpen())).toEqual([true])
})

test('one that does not answer in time is thrown away', async () => {
  const { lanes, connections } = lanesThatOpenSlowly()
  const warm = lanes.run(() => Promise.resolve('open'))
  await vi.advanceTimersByTimeAsync(LONG_MS)
  expect(await warm).toBe('open')
  const silent = expect(lanes.run(() => new Promise(() => undefined))).rejects.toThrow(LedgerStoreUnavailable)
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS)
  await silent
  expect(connections.map(({ isOpen }) => isOpen())).toEqual([false])
})
