/**
 * Goal: when the database server is lost, the ledger stands still until an administrator has decided, and then goes on
 * without missing anything that was answered; what lacks it is served by nobody, though nobody remembers it. A database
 * that was put back is served by no node that knows better, though every epoch in it is as it was.
 */
import { describe, expect, test } from 'vitest'
import { createCluster } from './cluster.ts'
import { FAULT_KINDS } from './faults.ts'
import { createKernel } from './kernel.ts'
import { planOf } from './plan.ts'
import type { AppliedCommit } from './sim-ledger-store-database.ts'
import type { Breaks } from './breaks.ts'
import { EPOCH_LEAP } from './sim-ledger-store-servers.ts'

/** So few that none is without a shard. */
const NODES = 2
const START_MS = 20_000
const TRAFFIC_MS = 60_000
/** Virtual time in which every node and edge has looked at the store, has ended, and was started again. */
const NOTICED_MS = 15_000
const SEEDS = [1, 2, 3]

/** A busy cluster without other faults, in the middle of its work. */
async function busyCluster(seed: number, breaks: Breaks = {}) {
  const kernel = createKernel({ seed })
  const plan = {
    ...planOf(seed),
    nodes: NODES,
    edges: 2,
    accounts: 12,
    clients: 8,
    requestsPerClient: 40,
    without: new Set(FAULT_KINDS),
  }
  const cluster = createCluster(kernel, { plan, breaks })
  const { database, checker } = cluster.world
  const applied: AppliedCommit[] = []
  database.onApplied((commit) => applied.push(commit))
  const until = async (holds: () => boolean, withinMs: number): Promise<void> => {
    if (!(await kernel.runUntil(holds, withinMs))) throw new Error('the condition did not come true in time')
  }
  const more = async (count: number): Promise<void> => {
    const before = applied.length
    await until(() => applied.length >= before + count, TRAFFIC_MS)
  }
  await until(cluster.allOwned, START_MS)
  cluster.workload.start(TRAFFIC_MS)
  await more(20)
  const { nodes, edges, crash } = cluster.targets
  return {
    kernel,
    cluster,
    database,
    checker,
    more,
    applied,
    until,
    crashAll: () => {
      for (const name of [...nodes, ...edges]) crash(name, 100)
    },
    /** Every node and edge has found the server, and ended, and so again. */
    allRefused: () => kernel.counted('log:server_refused') >= 2 * (nodes.length + edges.length),
    toTheEnd: async () => {
      await until(() => cluster.workload.finished() && cluster.allOwned(), 2 * TRAFFIC_MS)
      await until(cluster.atRest, 2 * TRAFFIC_MS)
      checker.atEnd()
      cluster.rowReplay?.atEnd()
      cluster.world.clients.atEnd()
    },
  }
}

describe('a synchronous standby that was promoted', () => {
  test.for(SEEDS)(
    'stops every process, again and again, until it is accepted; then all goes on (seed %i)',
    async (seed) => {
      const { kernel, database, checker, applied, allRefused, more, toTheEnd } = await busyCluster(seed)
      database.promote()
      const before = applied.length
      await kernel.runFor(NOTICED_MS)
      expect(applied.length).toBe(before)
      expect(allRefused()).toBe(true)
      database.accept()
      await more(20)
      expect(database.shards().every(({ epoch }) => epoch > EPOCH_LEAP)).toBe(true)
      await toTheEnd()
      expect(checker.violations).toEqual([])
    },
  )
})

describe('a standby that lacks commits, promoted while every process is started anew', () => {
  test.for(SEEDS)('is served by nobody; once the lost server is back all goes on (seed %i)', async (seed) => {
    const { kernel, database, checker, applied, crashAll, allRefused, more, toTheEnd } = await busyCluster(seed)
    const standby = database.standby()
    await more(5)
    database.promote(standby)
    crashAll()
    const before = applied.length
    await kernel.runFor(NOTICED_MS)
    expect(applied.length).toBe(before)
    expect(allRefused()).toBe(true)
    database.recover()
    expect(database.server).toEqual({ timeline: 1, accepted: true, wentBack: false })
    await more(20)
    await toTheEnd()
    expect(checker.violations).toEqual([])
  })

  test.for(SEEDS)('is written to, and says so, if what was not accepted is not refused (seed %i)', async (seed) => {
    const { database, checker, crashAll, more } = await busyCluster(seed, { database: 'refusesUnaccepted' })
    const standby = database.standby()
    await more(5)
    database.promote(standby)
    crashAll()
    await more(20)
    expect(checker.violations).toContainEqual(expect.stringMatching(/T3: node-\w commits on timeline 2/))
    expect(checker.violations).toContainEqual(expect.stringMatching(/T3: node-\w reads from timeline 2/))
    expect(checker.violations).toContainEqual(expect.stringMatching(/I1b: .*version \d+ written by .* and by/))
  })
})

/** Who has written accounts. */
function committersOf(applied: readonly AppliedCommit[]): ReadonlySet<string> {
  const wrote = applied.filter(({ shards }) => shards.some(({ batch }) => batch.accounts.length > 0))
  return new Set(wrote.map(({ nodeId }) => nodeId))
}

describe('a store that was put back, with equal epochs', () => {
  test.for(SEEDS)(
    'stops every node that it owes a commit, and no further commit takes effect (seed %i)',
    async (seed) => {
      const { kernel, database, checker, applied, until } = await busyCluster(seed)
      await until(() => committersOf(applied).size === NODES, TRAFFIC_MS)
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
    const { database, checker, more, toTheEnd } = await busyCluster(seed)
    database.restart()
    await more(20)
    await toTheEnd()
    expect(checker.violations).toEqual([])
  })
})
