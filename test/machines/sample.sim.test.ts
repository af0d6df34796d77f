/**
 * The simulation notices a machine of an actor that lacks a target, a guard or a transition within a few seeds. All cases:
 * `npm run test:machines`.
 */
import { expect, test } from 'vitest'
import { runCluster } from '../simulation/cluster/cluster.ts'
import { SimulationFailure } from '../simulation/kernel/kernel.ts'
import { planOf } from '../simulation/plan.ts'
import { brokenStep, mutationNamed } from './mutations.ts'

const MOST_SEEDS = 8

test.for([
  'account.absent.prepare_issue.0.target',
  'account.active.register.0.guard',
  'account.absent.register.0.transition',
  'group.absent.revert_group.1.target',
  'group.absent.register_group.0.guard',
  'group.absent.register_group.1.transition',
  'exchange.waiting.offer_exchange.2.target',
  'exchange.waiting.offer_exchange.1.guard',
  'exchange.waiting.offer_exchange.2.transition',
  'token.preparing.issue_prepared.1.target',
  'token.preparing.register_token.0.guard',
  'token.preparing.register_token.0.transition',
  'class.absent.hold_arrival.0.target',
  'class.preparing.issue_prepared.0.guard',
  'class.absent.register_class.0.transition',
  'instance.absent.mint_nft.0.target',
  'instance.minting.take_arrival.0.guard',
  'instance.absent.hold_arrival.0.transition',
])('without %s a seed fails', async (name) => {
  const fails = async (seed: number): Promise<boolean> => {
    try {
      await runCluster({ plan: planOf(seed), breaks: { step: brokenStep(mutationNamed(name)) } })
      return false
    } catch (failure) {
      if (failure instanceof SimulationFailure) return true
      throw failure
    }
  }
  let seed = 1
  while (seed <= MOST_SEEDS && !(await fails(seed))) seed += 1
  expect(seed).toBeLessThanOrEqual(MOST_SEEDS)
})
