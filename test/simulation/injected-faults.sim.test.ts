/**
 * An error between the arrival of a command and its reply, together with all other faults of the cluster, loses and
 * duplicates no order, stops no client permanently, and logs one line at the level `error`.
 */
import { expect, test } from 'vitest'
import { INJECTED_FAULTS } from '../support/processes/injected-faults.ts'
import { runCluster } from './cluster/cluster.ts'
import { FaultyParts } from './cluster/cluster-faulty.ts'
import { planOf } from './plan.ts'

const SEEDS = Array.from({ length: 8 }, (_, index) => index + 1)
const ACCOUNTS = 10
const triggered = new Set<string>()

test.for(SEEDS)('every invariant holds with injected faults in the nodes (seed %i)', async (seed) => {
  const injected = new FaultyParts(seed, ACCOUNTS)
  const plan = { ...planOf(seed), nodes: 3, accounts: ACCOUNTS, clients: 8, requestsPerClient: 25 }
  await runCluster({ plan, injected })
  expect(injected.triggered.size).toBeGreaterThan(5)
  for (const name of injected.triggered) triggered.add(name)
})

test('the runs trigger at least 20 faults', () => {
  process.stdout.write(
    `triggered: ${triggered.size} of ${INJECTED_FAULTS.length}: ${[...triggered].toSorted().join(', ')}\n`,
  )
  expect(triggered.size).toBeGreaterThanOrEqual(20)
})
