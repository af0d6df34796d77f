/**
 * A rule that could be broken without a seed finding out would be a rule that nothing guards. Each mutation breaks one,
 * in the store, in the runtime or in an actor, and the simulation must find it within so many seeds: where the very same
 * run without it holds.
 */
import { afterAll, expect, test } from 'vitest'
import { runCluster } from './cluster.ts'
import { firstFinding, MUTATIONS } from './mutation-list.ts'

const took: string[] = []

test.for(MUTATIONS)('without "$rule" one of $withinSeeds seeds fails, and says so', async (mutation) => {
  const { plan, broken, otherwise } = await firstFinding(mutation)
  const { rule, withinSeeds } = mutation
  took.push(`seed ${plan?.seed ?? '-'} of ${withinSeeds}, ${otherwise.length} otherwise. ${rule}: ${broken}`)
  if (plan === undefined) throw new Error(`nothing was found; otherwise: ${otherwise.join('; ')}`)
  expect(broken).toMatch(mutation.foundAs)
  expect((await runCluster({ plan })).steps).toBeGreaterThan(0)
})

afterAll(() => {
  process.stdout.write(`Seeds that it took to find each mutation\n${took.join('\n')}\n`)
})
