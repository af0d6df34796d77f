/**
 * After the loss of the database server the ledger stops until an administrator decides, and then continues
 * without losing any answered commit. No node serves a server that lacks commits, even if no process remembers them. No
 * node that has seen later commits serves a restored database, even if all epochs are equal.
 */
import { describe, expect, test } from 'vitest'
import { createCluster } from './cluster/cluster.ts'
import { FAULT_KINDS } from './cluster/faults.ts'
import { createKernel } from './kernel/kernel.ts'
import { planOf } from './plan.ts'
import type { AppliedCommit } from './store/applied.ts'
import type { Breaks } from './breaks.ts'
import { EPOCH_LEAP } from './store/servers.ts'

/** Few enough that each node owns a shard. */
const NODES = 2
const START_MS = 20_000
const TRAFFIC_MS = 60_000
/** Virtual time in which every node and edge has checked the store, exited and been restarted. */
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
    /** Whether every node and edge has found the server and exited, twice on average. */
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
  test.for(SEEDS)('stops every process, repeatedly until it is accepted, then continues (seed %i)', async (seed) => {
    const { kernel, database, checker, applied, allRefused, more, toTheEnd } = await busyCluster(seed)
    database.promote()
    const before = applied.length
    await kernel.runFor(NOTICED_MS)
    expect(applied.length).toBe(before)
    expect(allRefused()).toBe(true)
    database.accept()
    await more(20)
    expect(database.shards.records().every(({ epoch }) => epoch > EPOCH_LEAP)).toBe(true)
    await toTheEnd()
    expect(checker.violations).toEqual([])
  })
})

describe('a standby that lacks commits, promoted while every process is started anew', () => {
  test.for(SEEDS)('is not served; continues once the lost server is back (seed %i)', async (seed) => {
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

  test.for(SEEDS)(
    'is written to, and the checker reports it, if unaccepted servers are not refused (seed %i)',
    async (seed) => {
      const { database, checker, crashAll, more } = await busyCluster(seed, { database: 'refusesUnaccepted' })
      const standby = database.standby()
      await more(5)
      database.promote(standby)
      crashAll()
      await more(20)
      expect(checker.violations).toContainEqual(expect.stringMatching(/T3: node-\w commits on timeline 2/))
      expect(checker.violations).toContainEqual(expect.stringMatching(/T3: node-\w reads from timeline 2/))
      expect(checker.violations).toContainEqual(expect.stringMatching(/I1b: .*version \d+ written by .* and by/))
    },
  )
})

/** The nodes that have written accounts. */
function committersOf(applied: readonly AppliedCommit[]): ReadonlySet<string> {
  const wrote = applied.filter(({ shards }) => shards.some(({ batch }) => batch.accounts.length > 0))
  return new Set(wrote.map(({ nodeId }) => nodeId))
}

describe('a store that was restored, with equal epochs', () => {
  test.for(SEEDS)(
    'stops every node whose commit it lacks, and no further commit takes effect (seed %i)',
    async (seed) => {
      const { kernel, database, checker, applied, until } = await busyCluster(seed)
      await until(() => committersOf(applied).size === NODES, TRAFFIC_MS)
      const kept = applied.length
      await until(() => committersOf(applied.slice(kept)).size === NODES, TRAFFIC_MS)
      // Answers may still be in transit.
      await kernel.runFor(10)
      expect(checker.violations).toEqual([])
      const owners = database.shards.records()
      database.goBack(applied.slice(0, kept))
      const before = applied.length
      await kernel.runFor(NOTICED_MS)
      expect(applied.length).toBe(before)
      expect(database.shards.records()).toEqual(owners)
      const stopped = checker.violations.map((text) => /(node-\w)#1 logs store_stopped .*went back/.exec(text)?.[1])
      expect(stopped).toHaveLength(NODES)
      expect(new Set(stopped)).toEqual(new Set(['node-a', 'node-b']))
    },
  )

  test.for(SEEDS)('that was only restarted stops no node, and continues (seed %i)', async (seed) => {
    const { database, checker, more, toTheEnd } = await busyCluster(seed)
    database.restart()
    await more(20)
    await toTheEnd()
    expect(checker.violations).toEqual([])
  })
})
