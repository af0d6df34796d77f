/**
 * A rule that could be broken without a seed finding out would be a rule that nothing guards. Each mutation breaks one,
 * in the store or in the runtime, and the simulation must find it within so many seeds.
 */
import { expect, test } from 'vitest'
import { type ClusterOptions, runCluster } from './cluster.ts'
import { planOf } from './plan.ts'
import { NO_RUNTIME_MUTATIONS } from './cluster-mutations.ts'
import { SimulationFailure } from './kernel.ts'
import { NO_STORE_MUTATIONS } from './sim-ledger-store-faults.ts'

interface Mutation {
  readonly rule: string
  readonly options: Omit<ClusterOptions, 'plan'>
  readonly withinSeeds: number
  readonly foundAs: RegExp
}

const MUTATIONS: readonly Mutation[] = [
  {
    rule: 'I1: the fence locks the rows that it reads',
    options: { storeMutations: { ...NO_STORE_MUTATIONS, fenceLocks: false } },
    withinSeeds: 60,
    foundAs: /I1b?: /,
  },
  {
    rule: 'D5: what is loaded after an acquire is loaded by statements of its own',
    options: { storeMutations: { ...NO_STORE_MUTATIONS, acquireLoadsOldSnapshot: true } },
    withinSeeds: 60,
    foundAs: /computed from version|shard_quarantined|channel_stopped|I10|I3|M1|N1/,
  },
  {
    rule: 'P1: what a batch touched stays pinned while look-ups are open',
    options: { runtimeMutations: { ...NO_RUNTIME_MUTATIONS, noPins: true } },
    withinSeeds: 20,
    foundAs: /computed from version|shard_quarantined|I10|I3|M1|N1/,
  },
  {
    rule: 'I10: no answer leaves before its commit',
    options: { runtimeMutations: { ...NO_RUNTIME_MUTATIONS, replyBeforeCommit: true } },
    withinSeeds: 5,
    foundAs: /I10/,
  },
  {
    rule: 'R1: of what another shard has sent, exactly the next is taken in',
    options: { runtimeMutations: { ...NO_RUNTIME_MUTATIONS, gapsInInbox: true } },
    withinSeeds: 10,
    foundAs: /I3|I4|I11|shard_quarantined/,
  },
  {
    rule: 'D6: what was sent is a counter, and does not follow from the rows that are left',
    options: { storeMutations: { ...NO_STORE_MUTATIONS, sentFromRows: true } },
    withinSeeds: 10,
    foundAs: /I3|I4|I11|channel_stopped/,
  },
  {
    rule: 'V1: only committed messages are carried',
    options: { runtimeMutations: { ...NO_RUNTIME_MUTATIONS, carriesUncommitted: true } },
    withinSeeds: 15,
    foundAs: /I3|I4/,
  },
  {
    rule: 'L2: what comes by a leg cannot be spent before its group has settled',
    options: { runtimeMutations: { ...NO_RUNTIME_MUTATIONS, spendsIncoming: true } },
    withinSeeds: 20,
    foundAs: /M1|I4|I5/,
  },
  {
    rule: 'I8: what is undone is marked, and is not undone again',
    options: { runtimeMutations: { ...NO_RUNTIME_MUTATIONS, compensatesUnmarked: true } },
    withinSeeds: 20,
    foundAs: /I8|computed from|shard_quarantined/,
  },
  {
    rule: 'O2: an NFT that is held for one is nobody else’s until it is let go or changes hands',
    options: { runtimeMutations: { ...NO_RUNTIME_MUTATIONS, movesHeld: true } },
    withinSeeds: 20,
    foundAs: /I9|I2|I11|shard_quarantined/,
  },
]

async function firstFinding({ options, withinSeeds }: Mutation): Promise<string> {
  for (let seed = 1; seed <= withinSeeds; seed += 1) {
    try {
      await runCluster({ plan: planOf(seed), ...options })
    } catch (error) {
      if (error instanceof SimulationFailure) return error.message
      throw error
    }
  }
  return 'nothing was found'
}

test.for(MUTATIONS)('without "$rule" a seed fails, and says which', async (mutation) => {
  const finding = await firstFinding(mutation)
  expect(finding).toMatch(/^SIM_SEED=\d+ npm run sim/)
  expect(finding.split('\n  ')[0]).toMatch(mutation.foundAs)
})
