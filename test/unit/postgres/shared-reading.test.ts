/** Goal: however often a costly answer is wanted, making it takes at most a tenth of the time. */
import { expect, test } from 'vitest'
import { createSharedReading } from '../../../infra/postgres/shared-reading.ts'
import { createManualClock } from '../../support/manual-clock.ts'

function scene() {
  const clock = createManualClock(0)
  const calls: { readonly succeed: (value: number) => void; readonly fail: () => void }[] = []
  const read = createSharedReading(
    clock,
    () =>
      new Promise<number>((resolve, reject) => {
        calls.push({ succeed: resolve, fail: () => reject(new Error('away')) })
      }),
  )
  /** What comes of the reading that is under way after `tookMs`. */
  const end = async (tookMs: number, value: number): Promise<void> => {
    await clock.pass(tookMs)
    calls.at(-1)?.succeed(value)
    await clock.pass(0)
  }
  return { clock, calls, read, end }
}

test('those who ask while it is made share it, however long it takes', async () => {
  const { clock, calls, read, end } = scene()
  const first = Array.from({ length: 100 }, () => read())
  await clock.pass(60_000)
  const late = read()
  await end(0, 7)
  expect(new Set(await Promise.all([...first, late]))).toEqual(new Set([7]))
  expect(calls).toHaveLength(1)
})

test.for([
  { tookMs: 0, keptMs: 1_000 },
  { tookMs: 100, keptMs: 1_000 },
  { tookMs: 200, keptMs: 1_800 },
  { tookMs: 10_000, keptMs: 90_000 },
])('what took $tookMs ms is kept for $keptMs ms', async ({ tookMs, keptMs }) => {
  const { clock, calls, read, end } = scene()
  void read()
  await end(tookMs, 1)
  await clock.pass(keptMs - 1)
  const kept = read()
  expect(calls).toHaveLength(1)
  expect(await kept).toBe(1)
  await clock.pass(1)
  const next = read()
  await end(0, 2)
  expect(await next).toBe(2)
})

test('a failure is kept as long, and then it is tried again', async () => {
  const { clock, calls, read, end } = scene()
  const failing = read()
  await clock.pass(500)
  calls[0]?.fail()
  await expect(failing).rejects.toThrow('away')
  await clock.pass(4_499)
  const kept = read()
  expect(calls).toHaveLength(1)
  await expect(kept).rejects.toThrow('away')
  await clock.pass(1)
  const next = read()
  await end(0, 3)
  expect(await next).toBe(3)
})
