/** A plan is written so that it replays exactly, and nothing that is no plan is taken for one. */
import { expect, test } from 'vitest'
import { FAULT_KINDS } from './faults.ts'
import { type Plan, planOf, readPlan, writePlan } from './plan.ts'

const own = planOf(7)
const CHANGES: readonly Partial<Plan>[] = [
  {},
  { nodes: own.nodes + 1, faultsMs: 1234.5 },
  { without: new Set(['blow.crash', 'store.slow']) },
  { without: new Set(FAULT_KINDS) },
  { without: new Set(FAULT_KINDS.slice(1)) },
  { without: new Set(FAULT_KINDS), harsh: new Set(['network.overtaken']) },
  { sparedBlows: new Set([0, 3, 4, 5, 9]), idleClients: new Set([1]), skippedRequests: new Set([11, 10]) },
]

test.for(CHANGES)('what is written of a changed plan reads as that plan: %o', (change) => {
  const plan = { ...own, ...change }
  expect(readPlan(7, writePlan(plan, FAULT_KINDS), FAULT_KINDS)).toEqual(plan)
})

test('a plan of its seed is written as nothing, and neighbours as a range', () => {
  expect(writePlan(own, FAULT_KINDS)).toBe('{}')
  expect(writePlan({ ...own, sparedBlows: new Set([4, 1, 2, 3, 8]) }, FAULT_KINDS)).toBe('{"sparedBlows":["1-4",8]}')
})

test.for([
  ['{', 'no JSON'],
  ['[]', 'no JSON object'],
  ['{"node":1}', 'there is no node'],
  ['{"nodes":0}', 'nodes is a number above 0'],
  ['{"faultsMs":"long"}', 'faultsMs is a number above 0'],
  ['{"without":["blow.crsh"]}', 'without is a list of kinds of faults: '],
  ['{"harsh":["network.los"]}', 'harsh is a list of kinds of faults: '],
  ['{"only":"blow.crash"}', 'only is a list of kinds of faults: '],
  ['{"sparedBlows":["7-3"]}', 'sparedBlows is a list of numbers and ranges'],
  ['{"skippedRequests":[-1]}', 'skippedRequests is a list of numbers and ranges'],
] as const)('%s is no plan, and it is said why', ([text, why]) => {
  expect(readPlan(7, text, FAULT_KINDS)).toContain(why)
})
