/** A node's time follows the clock of the store, not its own wall clock. */
import { describe, expect, test } from 'vitest'
import { createLedgerClock, followStoreTime } from '../../../../runtime/common/ledger-clock.ts'

import { createManualClock } from '../../../support/manual-clock.ts'

function clocks() {
  const shown = { wallMs: 1_000_000, monotonicMs: 500 }
  const clock = createLedgerClock({
    now: () => shown.wallMs,
    monotonic: () => shown.monotonicMs,
    after: () => ({ cancel: () => undefined }),
  })
  return { shown, clock }
}

describe('the ledger’s clock', () => {
  test('T2: before the store was heard of it shows the wall clock', () => {
    expect(clocks().clock.now()).toBe(1_000_000)
  })

  test('it goes on from what the store named, and a wall clock that is set changes nothing', () => {
    const { shown, clock } = clocks()
    clock.observe(2_000_000, 500, 500)
    shown.wallMs += 60_000
    expect(clock.now()).toBe(2_000_000)
    shown.monotonicMs += 1_234
    expect(clock.now()).toBe(2_001_234)
  })

  test('it knows the offset of the wall clock after the store’s first reply', () => {
    const { shown, clock } = clocks()
    expect(clock.skewMs()).toBeNull()
    clock.observe(1_000_700, 500, 500)
    expect(clock.skewMs()).toBe(700)
    shown.wallMs += 1_000
    expect(clock.skewMs()).toBe(300)
  })

  test('T1: an answer that took long and agrees moves nothing; one that does not agree moves it just so far that it does', () => {
    const { shown, clock } = clocks()
    clock.observe(2_000_000, 500, 500)
    shown.monotonicMs = 1_500
    // At 1,000 it was 2,000,500: within what was named at some moment from 500 to 1,500.
    clock.observe(2_000_500, 500, 1_500)
    expect(clock.now()).toBe(2_001_000)
    // Named at 1,500 at the latest, so that it is 2,001,200 by now at least.
    clock.observe(2_001_200, 1_400, 1_500)
    expect(clock.now()).toBe(2_001_200)
    // Named at 1,400 at the earliest: 2,000,900 and the round trip at most.
    clock.observe(2_000_900, 1_400, 1_500)
    expect(clock.now()).toBe(2_001_000)
  })
})

describe('T3: a clock that jumps', () => {
  test('the store’s is not believed while this machine’s goes on as before', () => {
    const { shown, clock } = clocks()
    clock.observe(1_000_000, 500, 500)
    expect(clock.observe(1_000_000 + 86_400_000, 500, 500)).toBe(false)
    expect(clock.now()).toBe(1_000_000)
    shown.monotonicMs += 1_000
    shown.wallMs += 1_000
    expect(clock.observe(1_000_000 - 60_000, 1_500, 1_500)).toBe(false)
    expect(clock.observe(1_001_000, 1_500, 1_500)).toBe(true)
    expect(clock.now()).toBe(1_001_000)
  })

  test('the store’s is believed when this machine’s has moved away from what was carried on, and for small steps', () => {
    const { shown, clock } = clocks()
    clock.observe(1_000_000, 500, 500)
    expect(clock.observe(1_002_000, 500, 500)).toBe(true)
    shown.wallMs += 3_600_000
    expect(clock.observe(1_000_000 + 3_600_000, 500, 500)).toBe(true)
    expect(clock.now()).toBe(4_600_000)
  })
})

describe('following the store’s time', () => {
  test('it is asked at once and every two seconds, after a failure too, until it is stopped', async () => {
    const wall = createManualClock(1_000_000)
    const clock = createLedgerClock(wall)
    let asked = 0
    const following = followStoreTime(clock, () => {
      asked += 1
      return asked === 2 ? Promise.reject(new Error('not now')) : Promise.resolve(5_000_000 + wall.monotonic())
    })
    await wall.pass(100)
    expect(clock.now()).toBe(5_000_000 + wall.monotonic())
    await wall.pass(4_000)
    expect(asked).toBe(3)
    expect(clock.now()).toBe(5_000_000 + wall.monotonic())
    following.stop()
    await wall.pass(10_000)
    expect(asked).toBe(3)
  })
})
