/**
 * A rule whose breach no seed reveals is unguarded. Each mutation breaks one rule in the store, in the runtime or in an
 * actor; the simulation must find it within a number of seeds in which the unbroken run holds.
 */
import { afterAll, expect, test } from 'vitest'
import { runCluster } from './cluster/cluster.ts'
import { SimulationFailure } from './kernel/kernel.ts'
import { type Mutation, MUTATIONS } from './mutation-list.ts'
import { planOf } from './plan.ts'

const took: string[] = []

/**
 * Runs the seeds in turn until one finds the break. A seed that fails for another reason, as consequences may, is
 * skipped.
 */
async function firstFinding({ breaks, plan = planOf, seeds: [from, within], foundAs }: Mutation) {
  const otherwise: (string | undefined)[] = []
  for (let turn = 0; turn < within; turn += 1) {
    const seed = 1 + ((from - 1 + turn) % within)
    try {
      await runCluster({ plan: plan(seed), breaks })
    } catch (error) {
      if (!(error instanceof SimulationFailure)) throw error
      const broken = error.violations.map(({ text }) => text)
      const found = broken.find((text) => foundAs.test(text))
      if (found !== undefined) return { plan: plan(seed), found, otherwise }
      otherwise.push(broken[0])
    }
  }
  throw new Error(`nothing was found; otherwise: ${otherwise.join('; ')}`)
}

test.for(Object.values(MUTATIONS))(
  'without "$rule" one of its seeds fails and identifies the rule',
  async (mutation) => {
    const { plan, found, otherwise } = await firstFinding(mutation)
    took.push(`seed ${plan.seed} of ${mutation.seeds[1]}, ${otherwise.length} otherwise. ${mutation.rule}: ${found}`)
    expect((await runCluster({ plan })).steps).toBeGreaterThan(0)
  },
)

afterAll(() => {
  process.stdout.write(`Seeds that it took to find each mutation\n${took.join('\n')}\n`)
})
