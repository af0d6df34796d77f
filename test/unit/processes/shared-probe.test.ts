/** Any number of callers cause at most one probe per second. */
import { expect, test } from 'vitest'
import { createSharedProbe } from '../../../infra/processes/readiness.ts'
import { createManualClock } from '../../support/manual-clock.ts'

interface Call {
  readonly succeed: () => void
  readonly fail: () => void
}

function scene() {
  const clock = createManualClock(0)
  const calls: Call[] = []
  const ask = createSharedProbe(clock, () => {
    const { promise, resolve, reject } = deferred()
    calls.push({ succeed: resolve, fail: () => reject(new Error('away')) })
    return promise
  })
  return { clock, calls, ask }
}

function deferred() {
  let resolve: () => void = () => undefined
  let reject: (error: Error) => void = () => undefined
  const promise = new Promise<void>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

test('callers during a probe share its result', async () => {
  const { clock, calls, ask } = scene()
  const answers = Promise.all(Array.from({ length: 500 }, () => ask()))
  await clock.pass(5_000)
  const late = ask()
  expect(calls).toHaveLength(1)
  calls[0]?.succeed()
  expect(new Set([...(await answers), await late])).toEqual(new Set([true]))
})

test.for([true, false])('a result of %s is reused for a second, then the probe runs again', async (good) => {
  const { clock, calls, ask } = scene()
  const first = ask()
  if (good) calls[0]?.succeed()
  else calls[0]?.fail()
  expect(await first).toBe(good)
  await clock.pass(999)
  expect(await ask()).toBe(good)
  expect(calls).toHaveLength(1)
  await clock.pass(1)
  const second = ask()
  calls[1]?.succeed()
  expect(await second).toBe(true)
  expect(calls).toHaveLength(2)
})
