/**
 * Properties of a running ledger, seen from outside. One start serves all suites, because a start costs more than each
 * suite.
 */
import { existsSync, readFileSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LedgerClient } from '../support/client/client.ts'
import { type Cluster, startCluster } from '../support/processes/cluster-process.ts'
import { clientSuite } from './suites/client.suite.ts'
import { docsSuite } from './suites/docs.suite.ts'
import { eventsTailSuite } from './suites/events-tail.suite.ts'
import { httpClientsSuite } from './suites/http-clients.suite.ts'
import { logMonitorSuite } from './suites/log-monitor.suite.ts'
import { revokedKeysSuite } from './suites/revoked-keys.suite.ts'
import type { Running } from './running.ts'
import { scopedClientsSuite } from './suites/scoped-clients.suite.ts'

let running: Running | undefined
let started: Cluster | undefined
let pids: readonly number[] = []

function pidsOf(cluster: Cluster): readonly number[] {
  return (['node', 'edge', 'nats-server', 'postgresql'] as const).flatMap((kind) =>
    cluster.heads(kind).map(({ pid }) => pid),
  )
}

function getRunning(): Running {
  if (running === undefined) throw new Error('the ledger does not run')
  return running
}

beforeAll(async () => {
  const cluster = await startCluster({ nodes: 2, edges: 2 })
  started = cluster
  const client = await LedgerClient.login(cluster.origin, cluster.clients.transactor)
  running = { cluster, client, elsewhere: client.at(cluster.origins[1] ?? '') }
  pids = pidsOf(cluster)
})

afterAll(async () => {
  running?.client.close()
  running?.elsewhere.close()
  await started?.stop()
})

scopedClientsSuite(getRunning)
httpClientsSuite(getRunning)
docsSuite(getRunning)
clientSuite(getRunning)
eventsTailSuite(getRunning)
logMonitorSuite(getRunning)
revokedKeysSuite(getRunning)

test('the auditor runs at a lower priority than the processes that serve requests', () => {
  const [auditor] = getRunning().cluster.heads('auditor')
  if (auditor === undefined) throw new Error('no auditor runs')
  const autogroup = `/proc/${auditor.pid}/autogroup`
  // Between sessions the kernel uses this value, where it exists.
  const ofSession = existsSync(autogroup) ? readFileSync(autogroup, 'utf8').trim() : 'nice 10'
  expect(getPriority(auditor.pid)).toBe(constants.priority.PRIORITY_BELOW_NORMAL)
  expect(ofSession).toMatch(/nice 10$/)
})

test('after all suites no process has restarted, and no transaction is pending', async () => {
  const { client, cluster } = getRunning()
  expect(pids).toHaveLength(6)
  expect(pidsOf(cluster)).toEqual(pids)
  expect(await client.read('/v1/transactions?status=pending')).toMatchObject({ total_count: 0 })
})
