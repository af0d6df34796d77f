/** C1, C2: commits count as failing while the store refuses or delays them, until one succeeds. */
import { expect, test } from 'vitest'
import {
  createCommitHealth,
  HANGS_AFTER_MS,
  SETTLES_AFTER_MS,
} from '../../../../../runtime/node/commit/commit-health.ts'
import { createManualClock } from '../../../../support/manual-clock.ts'

function healthAt0() {
  const clock = createManualClock(0)
  return { clock, health: createCommitHealth(clock) }
}

test('written rows clear a refusal at once; a commit without rows proves nothing', () => {
  const { health } = healthAt0()
  expect(health.fails()).toBe(false)
  health.sent()
  health.answered(false)
  health.refused()
  health.sent()
  health.answered(false)
  expect(health.fails()).toBe(true)
  health.sent()
  health.answered(true)
  expect(health.fails()).toBe(false)
})

test('a probe clears a refusal some time after it', async () => {
  const { clock, health } = healthAt0()
  health.refused()
  await clock.pass(SETTLES_AFTER_MS - 1)
  expect(health.mayProve()).toBe(false)
  health.proved()
  expect(health.fails()).toBe(true)
  await clock.pass(1)
  expect(health.mayProve()).toBe(true)
  expect(health.fails()).toBe(true)
  health.refused()
  health.proved()
  expect(health.fails()).toBe(true)
  await clock.pass(SETTLES_AFTER_MS)
  health.proved()
  expect(health.fails()).toBe(false)
})

test('a delayed commit counts as failing while it waits, and afterwards unless it wrote rows', async () => {
  const { clock, health } = healthAt0()
  health.sent()
  await clock.pass(HANGS_AFTER_MS - 1)
  expect(health.fails()).toBe(false)
  await clock.pass(1)
  expect([health.fails(), health.mayProve()]).toEqual([true, false])
  health.answered(true)
  expect(health.fails()).toBe(false)
  health.sent()
  await clock.pass(HANGS_AFTER_MS)
  health.answered(false)
  expect(health.fails()).toBe(true)
})
