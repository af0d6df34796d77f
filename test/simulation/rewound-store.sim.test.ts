/**
 * Goal: a database that lacks what it had answered, a disk that was put back or a standby that was promoted too early, is
 * served by nobody who knows better, though every epoch in it is as it was.
 */
import { describe, expect, test } from 'vitest'
import { createCluster } from './cluster.ts'
import { FAULT_KINDS } from './faults.ts'
import { createKernel } from './kernel.ts'
import { planOf } from './plan.ts'
import type { AppliedCommit } from './sim-ledger-store-database.ts'

/** So few that none is without a shard. */
const NODES = 2
const START_MS = 20_000
const TRAFFIC_MS = 60_000
/** Virtual time in which every node has looked at the store again. */
const NOTICED_MS = 15_000

/** A busy cluster without faults, some seconds after it began. */
async function busyCluster(seed: number) {
  const kernel = createKernel({ seed })
  const plan = {
    ...planOf(seed),
    nodes: NODES,
    accounts: 12,
    clients: 8,
    requestsPerClient: 40,
    without: new Set(FAULT_KINDS),
  }
  const cluster = createCluster(kernel, { plan })
  const { database, checker } = cluster.world
  const applied: AppliedCommit[] = []
  database.onApplied((commit) => applied.push(commit))
  const until = async (holds: () => boolean, withinMs: number): Promise<void> => {
    if (!(await kernel.runUntil(holds, withinMs))) throw new Error('the condition did not come true in time')
  }
  await until(cluster.allOwned, START_MS)
  cluster.workload.start(TRAFFIC_MS)
  await until(() => committersOf(applied).size === NODES, TRAFFIC_MS)
  return { kernel, cluster, database, checker, applied, until }
}

/** Who has written accounts. */
function committersOf(applied: readonly AppliedCommit[]): ReadonlySet<string> {
  const wrote = applied.filter(({ shards }) => shards.some(({ batch }) => batch.accounts.length > 0))
  return new Set(wrote.map(({ nodeId }) => nodeId))
}

const SEEDS = [1, 2, 3]

describe('a store that was put back, with equal epochs', () => {
  test.for(SEEDS)(
    'stops every node that it owes a commit, and no further commit takes effect (seed %i)',
    async (seed) => {
      const { kernel, database, checker, applied, until } = await busyCluster(seed)
      const kept = applied.length
      await until(() => committersOf(applied.slice(kept)).size === NODES, TRAFFIC_MS)
      // Answers are on their way for a moment.
      await kernel.runFor(10)
      expect(checker.violations).toEqual([])
      const owners = database.shards()
      database.goBack(applied.slice(0, kept))
      const before = applied.length
      await kernel.runFor(NOTICED_MS)
      expect(applied.length).toBe(before)
      expect(database.shards()).toEqual(owners)
      const stopped = checker.violations.map((text) => /(node-\w)#1 says store_stopped .*went back/.exec(text)?.[1])
      expect(stopped).toHaveLength(NODES)
      expect(new Set(stopped)).toEqual(new Set(['node-a', 'node-b']))
    },
  )

  test.for(SEEDS)('that was only restarted stops nobody, and all goes on (seed %i)', async (seed) => {
    const { cluster, database, checker, applied, until } = await busyCluster(seed)
    const kept = applied.length
    database.restart()
    await until(() => committersOf(applied.slice(kept)).size === NODES, TRAFFIC_MS)
    await until(() => cluster.workload.finished() && cluster.allOwned(), 2 * TRAFFIC_MS)
    expect(checker.violations).toEqual([])
  })
})
