/** Goal: for any seed, the ledger accepts every group of the plan of value moves. */
import { expect, test } from 'vitest'
import { readTerms } from '../../../actors/group/terms.ts'
import { legMembers } from '../../e2e/value-moves-load.ts'
import { planOf } from '../../e2e/value-moves-plan.ts'

test('no seed generates a group that is refused for its terms', () => {
  const seeds = Array.from({ length: 40 }, (_, seed) => seed)
  const groups = seeds
    .flatMap((seed) => planOf(seed, { accounts: 160, tokens: 20, orders: 300 }).orders)
    .filter((order) => order.kind === 'group')
  const refused = groups.flatMap(({ groupId, legs, timeoutSeconds }) => {
    const terms = readTerms({ group_id: groupId, legs: legs.map(legMembers), timeout_seconds: timeoutSeconds })
    return terms.ok ? [] : [terms]
  })
  expect(refused).toEqual([])
  expect(groups.length).toBeGreaterThan(1_000)
})
