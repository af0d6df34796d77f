/** A failing plan is reduced to a small one with the same failure, in few runs. */
import { expect, test } from 'vitest'
import { type Plan, planOf } from '../plan.ts'
import type { Attempt } from './runner-attempt.ts'
import { shrink } from './shrink.ts'

const KINDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] as const

/** A subject that needs one kind of fault, one blow and one client; with a single node it fails otherwise. */
function imagined(plan: Plan): Promise<Attempt> {
  const fails =
    !plan.without.has('e') && !plan.sparedBlows.has(3) && !plan.idleClients.has(1) && plan.requestsPerClient >= 3
  const name = plan.nodes === 1 ? 'I9' : 'I4'
  const left = KINDS.length - plan.without.size + plan.clients - plan.idleClients.size - plan.sparedBlows.size
  const steps = Math.ceil(left + plan.requestsPerClient + plan.faultsMs / 100)
  const counters = new Map([['blow:a', 6 - plan.sparedBlows.size]])
  const end = { hash: '', steps, virtualMs: 0, counters }
  return Promise.resolve({ end, violations: fails ? [{ name, text: `${name}: broken` }] : [] })
}

const PLAN: Plan = { ...planOf(1), nodes: 2, clients: 4, requestsPerClient: 25, faultsMs: 20_000 }

async function shrinkImagined(maxRuns: number) {
  const failure = await imagined(PLAN)
  return shrink({ plan: PLAN, failure, faultKinds: KINDS, run: imagined, maxRuns, isLate: () => false })
}

test('S1: parts that the failure does not need are left out, and the failure stays the same', async () => {
  const { plan, failure } = await shrinkImagined(500)
  expect(failure.violations[0]?.name).toBe('I4')
  expect(plan.nodes).toBe(2)
  expect(plan.requestsPerClient).toBe(3)
  expect([...plan.without].toSorted()).toEqual(KINDS.filter((kind) => kind !== 'e'))
  expect(plan.sparedBlows).toEqual(new Set([0, 1, 2, 4, 5]))
  expect(plan.idleClients.has(1)).toBe(false)
})

test('S2: the limit of runs is respected, and the shortest run is returned', async () => {
  const { failure, runs } = await shrinkImagined(5)
  expect(runs).toBe(5)
  expect(failure.violations[0]?.name).toBe('I4')
  expect(failure.end.steps).toBeLessThan((await imagined(PLAN)).end.steps)
})
