/**
 * After a kill of any process no acknowledged order is lost or applied twice (I2, I3). Real processes, SIGKILL, under
 * load.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Holder, LedgerClient } from '../support/client/client.ts'
import { type Cluster, startCluster, until } from '../support/processes/cluster-process.ts'
import type { ProcessKind } from '../support/processes/cluster-process-table.ts'
import { DurabilityAudit, forAll, receiptKeys } from './durability/durability-audit.ts'
import { DurabilityLoad } from './durability/durability-load.ts'

const ACCOUNTS = 80
const CLIENTS = 24
/** Acknowledged orders between two kills. */
const BETWEEN_KILLS = 80
const DEADLINE_MS = 180_000
const KINDS = ['node', 'edge', 'nats-server', 'postgresql'] as const
/** Enough accounts for every kind of transaction. */
const REPEATED = 80
const RECEIPTS = 20

let cluster: Cluster
let client: LedgerClient

beforeAll(async () => {
  cluster = await startCluster({ nodes: 2, edges: 1 })
  client = await LedgerClient.login(cluster.origin, cluster.clients.transactor)
})

afterAll(async () => {
  client.close()
  await cluster.stop()
})

function pids(kind: ProcessKind): readonly number[] {
  return cluster.heads(kind).map(({ pid }) => pid)
}

/** Waits for a condition; fails at once if a client got an invalid reply. */
async function untilUnder(load: DurabilityLoad, what: string, holds: () => boolean): Promise<void> {
  await until(what, DEADLINE_MS, () => load.surprises.length > 0 || holds())
  expect(load.surprises).toEqual([])
}

/** Kills one process of a kind during the load, and waits until the ledger has recovered. */
async function kill(kind: ProcessKind, load: DurabilityLoad): Promise<void> {
  const before = load.acknowledged
  await untilUnder(load, `the load flows before a ${kind} is killed`, () => {
    return load.acknowledged >= before + BETWEEN_KILLS && load.inFlight.size > 0
  })
  const others = KINDS.filter((other) => other !== kind)
  const othersBefore = others.flatMap(pids)
  const [victim, ...siblings] = pids(kind)
  if (victim === undefined) throw new Error(`no ${kind} runs`)
  const caught = [...load.inFlight]
  process.kill(victim, 'SIGKILL')
  await untilUnder(load, `another ${kind} runs`, () => {
    const now = pids(kind)
    return now.length === siblings.length + 1 && !now.includes(victim)
  })
  await untilUnder(load, `what was in flight as the ${kind} died is acknowledged`, () =>
    caught.every(({ acknowledged }) => acknowledged !== undefined),
  )
  // The death of a part ends no other part.
  expect([kind, others.flatMap(pids)]).toEqual([kind, othersBefore])
}

async function countOf(status: string): Promise<unknown> {
  return (await client.read(`/v1/transactions?status=${status}&page_size=1`))['total_count']
}

test('I2, I3, I4, I6, I7: after kills of all kinds of processes each accepted order is applied once', async () => {
  const holders: Holder[] = []
  const names = Array.from({ length: ACCOUNTS }, (_, number) => `account-${number}@durability`)
  await forAll(names, async (name) => void holders.push(await client.register(name)))
  const load = new DurabilityLoad(client, holders)
  load.start(CLIENTS)
  // The second round kills processes that were restarted.
  for (const kind of [...KINDS, ...KINDS]) await kill(kind, load)
  await load.finish(DEADLINE_MS)
  expect(load.surprises).toEqual([])
  await until('every edge is ready again', DEADLINE_MS, cluster.isReady)
  await until('no transfer is pending', DEADLINE_MS, async () => (await countOf('pending')) === 0)

  // The kills must have left requests without a reply.
  expect(load.setbacks.unanswered).toBeGreaterThan(0)
  expect(load.operations.length).toBeGreaterThan(2 * KINDS.length * BETWEEN_KILLS)

  const audit = new DurabilityAudit(client)
  await forAll(holders, ({ accountId }) =>
    audit.account(
      accountId,
      load.operations.filter((operation) => operation.accountId === accountId),
    ),
  )
  const setBack = load.operations.filter(({ setbacks }) => setbacks > 0)
  await forAll([...setBack.slice(-REPEATED), ...load.operations.slice(0, REPEATED)], (one) => audit.repeat(one))
  const keys = await receiptKeys(cluster.origin)
  await forAll([...setBack.slice(-RECEIPTS / 2), ...load.operations.slice(-RECEIPTS / 2)], (one) =>
    audit.receipt(one, keys),
  )
  audit.conservation()
  expect(audit.faults).toEqual([])
  expect(audit.completed + audit.failed).toBe(load.operations.length)
  expect(audit.received).toBeGreaterThan(0)
  expect(await countOf('completed')).toBe(audit.completed + audit.received)
  expect(await countOf('failed')).toBe(audit.failed)
})
