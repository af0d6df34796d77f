/** An edge uses PostgreSQL's time, and detects a deviating clock of its machine. */
import { expect, test } from 'vitest'
import { followEdgeClock, MAX_CLOCK_SKEW_MS } from '../../../infra/processes/edge-clock.ts'
import type { LogFields } from '../../../runtime/ports/log.ts'
import { createManualClock } from '../../support/manual-clock.ts'

const START_MS = 1_000_000

/** `offMs`: how far PostgreSQL's clock is ahead of this machine's. */
async function scene(offMs: number, answers = true) {
  const machine = createManualClock(START_MS)
  const state = { answers, stepMs: 0 }
  const lines: [string, LogFields | undefined][] = []
  const note = (event: string, fields?: LogFields): void => void lines.push([event, fields])
  const wall = { ...machine, now: () => machine.now() + state.stepMs }
  const readStoreMs = async (): Promise<number> => {
    if (!state.answers) throw new Error('away')
    return machine.now() + offMs
  }
  const edgeClock = await followEdgeClock(wall, readStoreMs, { info: note, warn: note, error: note })
  return { machine, state, lines, ...edgeClock }
}

test.for([MAX_CLOCK_SKEW_MS, -MAX_CLOCK_SKEW_MS, 0])('a clock that is %i ms off is trusted', async (offMs) => {
  const { isTrusted, clock, lines, stop } = await scene(offMs)
  expect(isTrusted()).toBe(true)
  expect(clock.now()).toBe(START_MS + offMs)
  expect(lines).toEqual([])
  stop()
})

test.for([MAX_CLOCK_SKEW_MS + 1, -7_200_000])(
  'a clock that is %i ms off is not trusted, and is logged once',
  async (offMs) => {
    const { isTrusted, clock, lines, stop } = await scene(offMs)
    expect([isTrusted(), isTrusted()]).toEqual([false, false])
    expect(clock.now()).toBe(START_MS + offMs)
    expect(lines).toEqual([['clock_distrusted', { skew_ms: Math.abs(offMs), bound_ms: MAX_CLOCK_SKEW_MS }]])
    stop()
  },
)

test('a clock is not trusted before PostgreSQL’s time is known', async () => {
  const { isTrusted, state, machine, stop } = await scene(0, false)
  expect(isTrusted()).toBe(false)
  state.answers = true
  await machine.pass(2_000)
  expect(isTrusted()).toBe(true)
  stop()
})

test('a step of the clock and its end are detected at once, also without PostgreSQL', async () => {
  const { isTrusted, clock, state, lines, stop } = await scene(0)
  expect(isTrusted()).toBe(true)
  state.answers = false
  state.stepMs = 3_600_000
  expect(isTrusted()).toBe(false)
  expect(clock.now()).toBe(START_MS)
  state.stepMs = 0
  expect(isTrusted()).toBe(true)
  expect(lines.map(([event]) => event)).toEqual(['clock_distrusted', 'clock_trusted'])
  stop()
})
