/**
 * The simulation notices a machine of an actor that lacks a target, a guard or a transition. Each case has a seed that
 * finds it. All cases: `npm run test:machines`.
 */
import { expect, test } from 'vitest'
import { runCluster } from '../simulation/cluster/cluster.ts'
import { SimulationFailure } from '../simulation/kernel/kernel.ts'
import { planOf } from '../simulation/plan.ts'
import { brokenStep, mutationNamed } from './mutations.ts'

test.for([
  ['account.absent.prepare_issue.0.target', 1],
  ['account.active.register.0.guard', 1],
  ['account.absent.register.0.transition', 1],
  ['group.absent.revert_group.1.target', 1],
  ['group.absent.register_group.0.guard', 1],
  ['group.absent.register_group.1.transition', 1],
  ['exchange.waiting.offer_exchange.2.target', 2],
  ['exchange.waiting.offer_exchange.1.guard', 2],
  ['exchange.waiting.offer_exchange.2.transition', 2],
  ['token.preparing.issue_prepared.1.target', 1],
  ['token.preparing.register_token.0.guard', 2],
  ['token.preparing.register_token.0.transition', 2],
  ['class.absent.hold_arrival.0.target', 1],
  ['class.preparing.issue_prepared.0.guard', 1],
  ['class.absent.register_class.0.transition', 1],
  ['instance.absent.mint_nft.0.target', 2],
  ['instance.minting.take_arrival.0.guard', 1],
  ['instance.absent.hold_arrival.0.transition', 1],
] as const)('without %s seed %i fails', async ([name, seed]) => {
  const run = runCluster({ plan: planOf(seed), breaks: { step: brokenStep(mutationNamed(name)) } })
  await expect(run).rejects.toBeInstanceOf(SimulationFailure)
})
