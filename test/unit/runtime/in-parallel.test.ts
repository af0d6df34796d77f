/** Goal: one that fails stops no other, and does not fail in silence. */
import { expect, test } from 'vitest'
import { inParallel } from '../../../runtime/common/in-parallel.ts'

test('all are run, a few at a time, and each that failed is told of', async () => {
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
