/**
 * Under load, nodes and nats-servers fail, nodes join and leave, and releases of two wire versions run side by side. No
 * acknowledged order is lost or applied twice (I2, I3), and every shard is soon available again (I11). Real processes,
 * signals and severed connections; one cluster of three nats-servers.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BuiltProgram, buildProgram } from '../../support/processes/built-program.ts'
import type { Program } from '../../support/processes/cluster-parts.ts'
import { until } from '../../support/processes/cluster-process.ts'
import { Trial } from '../many-nodes/trial.ts'

const NODES = ['node-1', 'node-2', 'node-3'] as const
const ADDED = ['node-4', 'node-5'] as const
const EDGES = [1, 2] as const
const WITHIN_MS = 180_000

let trial: Trial
/** Nodes and edges of future releases (test/support/processes/next-part.ts): one reads the next wire version, one writes it. */
let program: BuiltProgram
/** Log lines of nodes of those releases before they ended. */
const said: string[] = []
/** Nodes that say what they have read. */
const telling = new Set<string>()
const nextRelease = (release: 'reads' | 'writes'): Program => [program.path, release]

export interface ManyNodesOptions {
  readonly shards: number
  /** Of the faults of nodes. */
  readonly rounds: number
  /** How long a node hangs at least. */
  readonly hangsMs: number
  /** With what takes long and is rare. */
  readonly isWhole: boolean
}

export function manyNodesSuite({ shards, rounds, hangsMs, isWhole }: ManyNodesOptions): void {
  beforeAll(async () => {
    // A process may run several suites, one after the other.
    said.length = 0
    telling.clear()
    program = buildProgram('test/support/processes/next-part.ts')
    trial = await Trial.start({ nodes: 3, edges: 2, shards, natsServers: 3, edgeProgram: nextRelease('reads') })
  })
  afterAll(async () => {
    process.stdout.write(trial.table())
    await trial.close()
    program.remove()
  })

  test('without a fault every shard is available all the time', async () => {
    await trial.harmed('nothing', () => undefined)
    expect(await trial.unserved()).toEqual([])
  })

  describe.for(Array.from({ length: rounds }, (_, index) => index + 1))('round %i', () => {
    leaving()
    dying(hangsMs, isWhole)
    cutOff()
  })
  natsServers(isWhole ? 3 : 1)
  if (isWhole) noQuorum()
  growing(isWhole ? ADDED : [])
  wireVersions(isWhole)

  test('I2, I3, I4: the ledger has every acknowledged order once, and value is conserved', async () => {
    expect(await trial.faults()).toEqual([])
  })
}

function leaving(): void {
  test('a node that stops releases its shards, and gets some when it restarts', async () => {
    await trial.harmed('SIGTERM of a node', async () => {
      await trial.end('node-1')
    })
    expect(await trial.unserved()).toEqual([])
    await trial.harmed('a node joins, of the release that reads the next version', async () => {
      await startReading('node-1')
      await trial.sharedBy(...NODES)
    })
    expect(await trial.unserved()).toEqual([])
  })

  test('a drained node releases all shards, and gets some after the drain', async () => {
    await trial.harmed('a node is drained', async () => {
      await trial.cluster.administer(['drain', 'node-3'])
      await trial.sharedBy('node-1', 'node-2')
    })
    await trial.cluster.administer(['drain', 'node-3', '--end'])
    await trial.sharedBy(...NODES)
    expect(await trial.unserved()).toEqual([])
  })
}

function dying(hangsMs: number, isWhole: boolean): void {
  test('other nodes take the shards of a killed node', async () => {
    await trial.harmed('SIGKILL of a node', () => trial.part('node-2').signal('SIGKILL'))
    await trial.sharedBy('node-1', 'node-3')
    await startReading('node-2')
    await trial.sharedBy(...NODES)
    said.push(trial.part('node-1').lastLines())
    expect(await trial.unserved()).toEqual([])
  })

  test('other nodes take the shards of a hung node, which commits nothing when it resumes', async () => {
    const stoppedMs = performance.now()
    await trial.harmed('SIGSTOP of a node', () => trial.part('node-3').signal('SIGSTOP'))
    // Others serve by now; in the long form it goes on hanging.
    await until('it has hung long enough', hangsMs + WITHIN_MS, () => performance.now() - stoppedMs >= hangsMs)
    await trial.harmed('SIGCONT of that node', () => trial.part('node-3').signal('SIGCONT'))
    await trial.sharedBy(...NODES)
    expect(await trial.unserved()).toEqual([])
  })

  test('the ledger survives a restart of PostgreSQL', async () => {
    if (isWhole) await trial.harmed('PostgreSQL is stopped and started', () => trial.cluster.restartPostgres('SIGTERM'))
    await trial.harmed('PostgreSQL is killed and started', () => trial.cluster.restartPostgres('SIGKILL'))
    expect(await trial.unserved()).toEqual([])
  })
}

function cutOff(): void {
  test('nodes that lose NATS or PostgreSQL lose their shards, and get some when they reconnect', async () => {
    const wires = [...trial.part('node-1').wires.nats, trial.part('node-2').wires.postgres]
    await trial.harmed('two nodes are cut off, from NATS and from PostgreSQL', () =>
      wires.forEach((wire) => wire.sever()),
    )
    await trial.harmed('they are back', () => wires.forEach((wire) => wire.restore()))
    await trial.sharedBy(...NODES)
    expect(await trial.unserved()).toEqual([])
  })
}

/** `count`: how many of the three, one after the other. */
function natsServers(count: number): void {
  test('the ledger survives the loss and return of any of three nats-servers', async () => {
    for (const [number, server] of trial.cluster.nats.servers.slice(0, count).entries()) {
      await trial.harmed(`nats-server ${number + 1} of 3 is killed`, () => server.kill())
      await trial.harmed('it is started again', () => server.start())
    }
    await trial.sharedBy(...NODES)
    expect(await trial.unserved()).toEqual([])
  })
}

function noQuorum(): void {
  test('a node that joins while NATS has no quorum gets shards once there is a quorum', async () => {
    await trial.end('node-1')
    await trial.sharedBy('node-2', 'node-3')
    const [first, second] = trial.cluster.nats.servers
    await trial.harmed('two of three nats-servers are killed', async () => {
      await Promise.all([first?.kill(), second?.kill()])
      await startReading('node-1')
    })
    await trial.harmed('they are started again', async () => {
      await Promise.all([first?.start(), second?.start()])
    })
    await trial.sharedBy(...NODES)
    expect(await trial.unserved()).toEqual([])
  })
}

/** `added`: nodes that join before. */
function growing(added: readonly string[]): void {
  test(`${NODES.length + added.length} nodes become two`, async () => {
    if (added.length > 0) {
      await trial.harmed('nodes join', async () => {
        await Promise.all(added.map((name) => trial.cluster.startNode(name)))
        await trial.sharedBy(...NODES, ...added)
      })
    }
    await trial.harmed('nodes leave at once', async () => {
      await Promise.all(['node-3', ...added].map((name) => trial.end(name)))
    })
    await trial.sharedBy('node-1', 'node-2')
    expect(await trial.unserved()).toEqual([])
  })
}

async function startReading(name: string): Promise<void> {
  await trial.cluster.startNode(name, {}, nextRelease('reads'))
  telling.add(name)
}

/** Nodes 1 and 2, and the edges, read the next wire version by now. */
function wireVersions(isWhole: boolean): void {
  const nodes = ['node-1', 'node-2'] as const
  let refusedBefore = 0
  beforeAll(() => {
    refusedBefore = trial.refusedTransfers().length
  })

  const readsOf = (node: string): readonly string[] =>
    trial
      .part(node)
      .lastLines()
      .split('\n')
      .filter((line) => line.includes('"event":"envelope_read"'))
  const restartNodes = (release: Program) => async (): Promise<void> => {
    const written = `"version":${release[1] === 'writes' ? 2 : 1},`
    for (const name of nodes) {
      await trial.end(name)
      said.push(trial.part(name).lastLines())
      await trial.cluster.startNode(name, {}, release)
      await trial.sharedBy(...nodes)
      // The other node, of whichever release, has read what this one writes.
      await until(`every node has read ${written}`, WITHIN_MS, () =>
        [...telling].every((node) => readsOf(node).some((line) => line.includes(written))),
      )
    }
  }
  const restartEdges = (release: Program) => async (): Promise<void> => {
    for (const number of isWhole ? EDGES : EDGES.slice(0, 1)) {
      await trial.restartEdge(number, (name) => trial.cluster.startEdge(name, {}, release))
    }
  }

  const restarts = [
    ['nodes into the release that writes the next version', restartNodes, 'writes'],
    ['edges after them', restartEdges, 'writes'],
    ['nodes back', restartNodes, 'reads'],
    ['edges back after them', restartEdges, 'reads'],
  ] as const
  test.for(restarts.slice(0, isWhole ? 4 : 2))(
    'a rolling restart of %s fails no request',
    async ([what, restart, release]) => {
      const { others } = await trial.harmed(`rolling restart: ${what}`, restart(nextRelease(release)))
      expect([...others]).toEqual([])
      expect(trial.refusedTransfers().slice(refusedBefore)).toEqual([])
      expect(await trial.unserved()).toEqual([])
    },
  )

  test('parts of both wire versions read each other, and none refused, parked or quarantined messages', () => {
    const text = [...said, ...nodes.map((name) => trial.part(name).lastLines())].join('\n')
    const reads = text.matchAll(/"event":"envelope_read".*?"version":(\d+),"writes":(\d+),"isRead":(\w+)/g)
    const between = new Set([...reads].map(([, version, writes, isRead]) => `${version} read by ${writes}: ${isRead}`))
    expect([...between].toSorted()).toEqual([
      '1 read by 1: true',
      '1 read by 2: true',
      '2 read by 1: true',
      '2 read by 2: true',
    ])
    for (const event of [
      'version_unsupported',
      'channel_parked',
      'channel_stopped',
      'shard_quarantined',
      'item_failed',
    ]) {
      expect(text).not.toContain(`"${event}"`)
    }
  })
}
