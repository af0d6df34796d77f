/**
 * Goal: two wire versions side by side on a running ledger: nodes and edges are restarted one after the other into the
 * release that writes the next version, and back, under load. No request fails because of it; nothing is refused, parked
 * or quarantined, and no acknowledged order is lost or applied twice (I2, I3, I4).
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BuiltProgram, buildProgram } from '../support/built-program.ts'
import type { Program } from '../support/cluster-parts.ts'
import { until } from '../support/cluster-process.ts'
import { Trial } from './many-nodes/trial.ts'

const NODES = ['node-1', 'node-2'] as const
const EDGES = [1, 2] as const
const READ_WITHIN_MS = 180_000

let program: BuiltProgram
let trial: Trial
const said: string[] = []

beforeAll(async () => {
  program = buildProgram('test/support/next-part.ts')
  trial = await Trial.start({ nodes: 2, edges: 2, shards: 8, natsServers: 1, program: [program.path, 'reads'] })
})
afterAll(async () => {
  process.stdout.write(trial.table())
  await trial.close()
  program.remove()
})

const readsOf = (node: string): readonly string[] =>
  trial
    .part(node)
    .lastLines()
    .split('\n')
    .filter((line) => line.includes('"event":"envelope_read"'))

const restartNodes = (release: Program) => async (): Promise<void> => {
  for (const name of NODES) {
    await trial.end(name)
    said.push(trial.part(name).lastLines())
    await trial.cluster.startNode(name, {}, release)
    await trial.sharedBy(...NODES)
    // The other node, of whichever release, has read what this one writes.
    const written = `"version":${release[1] === 'writes' ? 2 : 1},`
    await until(`both nodes have read ${written}`, READ_WITHIN_MS, () =>
      NODES.every((node) => readsOf(node).some((line) => line.includes(written))),
    )
  }
}

const restartEdges = (release: Program) => async (): Promise<void> => {
  for (const number of EDGES) {
    await trial.restartEdge(number, (name) => trial.cluster.startEdge(name, {}, release))
  }
}

test.for([
  ['nodes into the release that writes the next version', restartNodes, 'writes'],
  ['edges after them', restartEdges, 'writes'],
  ['nodes back', restartNodes, 'reads'],
  ['edges back after them', restartEdges, 'reads'],
] as const)('a rolling restart of %s fails no request', async ([what, restart, release]) => {
  const { others } = await trial.harmed(`rolling restart: ${what}`, restart([program.path, release]))
  expect([...others]).toEqual([])
  expect(trial.refusedTransfers()).toEqual([])
  expect(await trial.unserved()).toEqual([])
})

test('parts that write one version read the other, and nothing was refused, parked or quarantined', () => {
  const text = [...said, ...[...trial.cluster.parts.values()].map((part) => part.lastLines())].join('\n')
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

test('I2, I3, I4: acknowledged orders are applied once, and value is conserved', async () => {
  expect(await trial.faults()).toEqual([])
})
