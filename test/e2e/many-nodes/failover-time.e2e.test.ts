/**
 * The time from the loss of PostgreSQL to acknowledged orders on its synchronous standby, with the steps of the guide
 * (infra/deploy/README.md) as a script takes them: promote, move the address, accept. A supervisor restarts parts that stop,
 * as systemd and Kubernetes do. No acknowledged order is lost or applied twice (I2, I3).
 */
import { beforeAll, expect, test } from 'vitest'
import { startReplicatedPostgres, type ReplicatedPostgres } from '../../support/postgres/replicated-postgres.ts'
import { eachNeedsTheOneBefore } from '../../support/in-turn.ts'
import type { Part } from '../../support/processes/cluster-parts.ts'
import { Trial } from './trial.ts'

const NODES = ['node-1', 'node-2'] as const
const EDGE = 'edge-1'

let pair: ReplicatedPostgres
let trial: Trial

beforeAll(async () => {
  trial = await Trial.start({
    nodes: NODES.length,
    edges: 1,
    shards: 8,
    natsServers: 1,
    startDatabase: (options) => startReplicatedPostgres(options, (started) => (pair = started)),
  })
  return async () => {
    process.stdout.write(trial.table())
    await trial.close()
  }
})
eachNeedsTheOneBefore()

/** Restarts a part each time it stops, until the signal. */
async function supervise(name: string, start: (name: string) => Promise<Part>, signal: AbortSignal): Promise<void> {
  for (let part = trial.part(name); !signal.aborted; part = await start(name)) await part.exited
}

test('a promoted synchronous standby takes orders again, and has each acknowledged one', async () => {
  const { cluster } = trial
  await trial.harmed('nothing', () => undefined)
  const supervising = new AbortController()
  for (const name of NODES) void supervise(name, cluster.startNode, supervising.signal)
  void supervise(EDGE, cluster.startEdge, supervising.signal)
  const steps: string[] = []
  const outage = trial.harmed('PostgreSQL is lost, a script promotes its standby', async () => {
    const beganMs = performance.now()
    const note = (step: string): void => void steps.push(`${step} ${Math.round(performance.now() - beganMs)} ms`)
    await pair.killPrimary()
    await pair.promote()
    note('promoted')
    cluster.leadPostgresTo(pair.standby.port)
    await cluster.administer(['accept-server', '--yes'])
    note('accepted')
  })
  const { recoveryMs } = await outage.finally(() => supervising.abort())
  process.stdout.write(`\n${steps.join(', ')}, every shard took orders after ${Math.round(recoveryMs)} ms\n`)
  expect(await trial.unserved()).toEqual([])
  expect(await trial.faults()).toEqual([])
})
