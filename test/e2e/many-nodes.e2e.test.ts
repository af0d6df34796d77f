/**
 * Goal: nodes are harmed, join and leave under steady load, and nothing that a client was told is lost or done twice
 * (I2, I3); every shard is back soon (I11). Real processes, real signals, severed wires.
 * LEDGER_FAULT_ROUNDS=20 goes through all of it as many times, and lets a node hang for longer.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../support/cluster-process.ts'
import { Trial } from './many-nodes/trial.ts'

const NODES = ['node-1', 'node-2', 'node-3'] as const
const ROUNDS = Number(process.env['LEDGER_FAULT_ROUNDS'] ?? '1')
const HANGS_MS = 30_000

let trial: Trial
beforeAll(async () => {
  trial = await Trial.start({ nodes: 3, edges: 2, shards: 16, natsServers: 1 })
})
afterAll(async () => {
  process.stdout.write(trial.table())
  await trial.close()
})

describe.for(Array.from({ length: ROUNDS }, (_, index) => index + 1))('round %i', () => {
  test('without any harm a shard is away no longer than a round of its client takes', async () => {
    await trial.harmed('nothing', () => undefined)
    expect(await trial.unserved()).toEqual([])
  })

  test('a node that is told to end gives its shards away', async () => {
    await trial.harmed('SIGTERM of a node', async () => {
      await trial.end('node-1')
    })
    expect(await trial.unserved()).toEqual([])
  })

  test('a node that comes back is given shards', async () => {
    await trial.harmed('a node joins', async () => {
      await trial.cluster.startNode('node-1')
      await trial.sharedBy(...NODES)
    })
    expect(await trial.unserved()).toEqual([])
  })

  test('a node is emptied at its administrator’s wish, and filled again', async () => {
    await trial.harmed('a node is drained', async () => {
      await trial.cluster.administer(['drain', 'node-3'])
      await trial.sharedBy('node-1', 'node-2')
    })
    await trial.cluster.administer(['drain', 'node-3', '--end'])
    await trial.sharedBy(...NODES)
    expect(await trial.unserved()).toEqual([])
  })

  test('the shards of a node that is killed are taken by others', async () => {
    await trial.harmed('SIGKILL of a node', () => trial.part('node-2').signal('SIGKILL'))
    await trial.sharedBy('node-1', 'node-3')
    await trial.cluster.startNode('node-2')
    await trial.sharedBy(...NODES)
    expect(await trial.unserved()).toEqual([])
  })

  test('the shards of a node that hangs are taken by others, and it commits nothing when it wakes', async () => {
    const stoppedMs = performance.now()
    await trial.harmed('SIGSTOP of a node', () => trial.part('node-3').signal('SIGSTOP'))
    // Others serve by now; in the long form it goes on hanging.
    if (ROUNDS > 1)
      await until('it has hung long enough', 2 * HANGS_MS, () => performance.now() - stoppedMs >= HANGS_MS)
    await trial.harmed('SIGCONT of that node', () => trial.part('node-3').signal('SIGCONT'))
    await trial.sharedBy(...NODES)
    expect(await trial.unserved()).toEqual([])
  })

  test('a node that is cut off from NATS loses its shards, and is given some when it is back', async () => {
    const { nats } = trial.part('node-1').wires
    await trial.harmed('a node is cut off from NATS', () => nats.forEach((wire) => wire.sever()))
    await trial.harmed('that node is back at NATS', () => nats.forEach((wire) => wire.restore()))
    await trial.sharedBy(...NODES)
    expect(await trial.unserved()).toEqual([])
  })

  test('a node that is cut off from PostgreSQL loses its shards, and is given some when it is back', async () => {
    const { postgres } = trial.part('node-2').wires
    await trial.harmed('a node is cut off from PostgreSQL', () => postgres.sever())
    await trial.harmed('that node is back at PostgreSQL', () => postgres.restore())
    await trial.sharedBy(...NODES)
    expect(await trial.unserved()).toEqual([])
  })

  test('PostgreSQL may be restarted', async () => {
    await trial.harmed('PostgreSQL is stopped and started', () => trial.cluster.restartPostgres('SIGTERM'))
    await trial.harmed('PostgreSQL is killed and started', () => trial.cluster.restartPostgres('SIGKILL'))
    expect(await trial.unserved()).toEqual([])
  })

  test('nodes may be restarted one after the other', async () => {
    await trial.harmed('a rolling restart', async () => {
      for (const name of NODES) {
        await trial.end(name)
        await trial.cluster.startNode(name)
      }
      await trial.sharedBy(...NODES)
    })
    expect(await trial.unserved()).toEqual([])
  })
})

test('I2, I3, I4: what was acknowledged is there, once, and value is conserved', async () => {
  expect(await trial.faults()).toEqual([])
})
