/**
 * Goal: on a cluster of three nats-servers any one of them may die, and nodes join and leave, under steady load, and
 * nothing that a client was told is lost or done twice (I2, I3). Real processes.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Trial } from './many-nodes/trial.ts'

const ADDED = ['node-2', 'node-3', 'node-4', 'node-5'] as const

let trial: Trial
beforeAll(async () => {
  trial = await Trial.start({ nodes: 1, edges: 2, shards: 16, natsServers: 3 })
})
afterAll(async () => {
  process.stdout.write(trial.table())
  await trial.close()
})

test('one node becomes five, and five become two', async () => {
  await trial.harmed('nothing', () => undefined)
  await trial.harmed('four nodes join', async () => {
    await Promise.all(ADDED.map((name) => trial.cluster.startNode(name)))
    await trial.sharedBy('node-1', ...ADDED)
  })
  await trial.harmed('three nodes leave at once', async () => {
    await Promise.all(['node-1', 'node-3', 'node-5'].map((name) => trial.end(name)))
  })
  await trial.sharedBy('node-2', 'node-4')
  expect(await trial.unserved()).toEqual([])
})

test('each of three nats-servers may die and come back', async () => {
  for (const [number, server] of trial.cluster.nats.servers.entries()) {
    await trial.harmed(`nats-server ${number + 1} of 3 is killed`, () => server.kill())
    await trial.harmed('it is started again', () => server.start())
  }
  await trial.sharedBy('node-2', 'node-4')
  expect(await trial.unserved()).toEqual([])
})

test('a node that joins while NATS has no quorum owns shards as soon as it has', async () => {
  const [first, second] = trial.cluster.nats.servers
  await trial.harmed('two of three nats-servers are killed', async () => {
    await Promise.all([first?.kill(), second?.kill()])
    await trial.cluster.startNode('node-1')
  })
  await trial.harmed('they are started again', async () => {
    await Promise.all([first?.start(), second?.start()])
  })
  await trial.sharedBy('node-1', 'node-2', 'node-4')
  expect(await trial.unserved()).toEqual([])
})

test('I2, I3, I4: what was acknowledged is there, once, and value is conserved', async () => {
  expect(await trial.faults()).toEqual([])
})
