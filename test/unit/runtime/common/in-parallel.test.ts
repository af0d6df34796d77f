/** A failing task stops no other, and its error is reported. */
import { expect, test } from 'vitest'
import { inParallel, untilFailure } from '../../../../runtime/common/in-parallel.ts'

test('all are run, a few at a time, and each failure is reported', async () => {
  const all = Array.from({ length: 30 }, (_, index) => index)
  const failed: unknown[] = []
  const done: number[] = []
  let running = 0
  let most = 0
  await inParallel(
    all,
    async (one) => {
      running += 1
      most = Math.max(most, running)
      await Promise.resolve()
      running -= 1
      if (one % 10 === 3) throw new Error(`no ${one}`)
      done.push(one)
    },
    (one, error) => failed.push([one, error instanceof Error ? error.message : error]),
  )
  expect(done).toEqual(all.filter((one) => one % 10 !== 3))
  expect(failed).toEqual([3, 13, 23].map((one) => [one, `no ${one}`]))
  expect(most).toBe(8)
})

test('after a failure no task begins, and the failure is thrown once all tasks have ended', async () => {
  const begun: number[] = []
  const ended: number[] = []
  const work = untilFailure([0, 1, 2, 3, 4, 5], 3, async (one) => {
    begun.push(one)
    for (let turn = 0; turn < 5 * one; turn += 1) await Promise.resolve()
    ended.push(one)
    if (one === 1) throw new Error('no')
  })
  await expect(work).rejects.toThrow('no')
  expect(new Set(ended)).toEqual(new Set(begun))
  expect(begun).toEqual([0, 1, 2, 3])
})

test('no task begins once the work is over', async () => {
  const begun: number[] = []
  await untilFailure(
    [0, 1, 2, 3],
    1,
    async (one) => void begun.push(one),
    () => begun.length === 2,
  )
  expect(begun).toEqual([0, 1])
})
