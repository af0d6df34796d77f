/** I1 to I12 hold in many seeds, and these seeds together show every demanded event. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ALL_HELD, type BuiltSimulation, buildSimulation, TIMEOUT_MS } from './built-simulation.ts'

const SEEDS = 500

let simulation: BuiltSimulation
beforeAll(() => {
  simulation = buildSimulation()
})
afterAll(() => simulation.remove())

test(
  `I1-I12 hold in ${SEEDS} seeds, and every fault, answer, end and rare path occurs in them`,
  { timeout: TIMEOUT_MS },
  async () => {
    expect(await simulation.outcomeOf(1, SEEDS)).toEqual({ ...ALL_HELD, isAllSeen: true })
  },
)
