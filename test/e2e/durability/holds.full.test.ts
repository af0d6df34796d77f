/** D25: 10,000 random creations, captures, releases and expiries of holds race while processes are killed. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Holder, LedgerClient, textOf } from '../../support/client/client.ts'
import type { Members } from '../../support/client/client-keys.ts'
import { free, funded, holdingOf } from '../../support/client/client-moves.ts'
import { type Cluster, startCluster, until } from '../../support/processes/cluster-process.ts'
import type { ProcessKind } from '../../support/processes/cluster-process-table.ts'
import { HOLD_AMOUNT, HoldLoad } from './hold-load.ts'

const REQUESTS = 10_000
const CLIENTS = 16
const FUNDS = 100_000
const DEADLINE_MS = 600_000
const KINDS: readonly ProcessKind[] = ['node', 'edge', 'postgresql', 'node']

let cluster: Cluster
let client: LedgerClient
let payers: readonly Holder[]
let beneficiaries: readonly Holder[]

beforeAll(async () => {
  cluster = await startCluster({ nodes: 2, edges: 1 })
  client = await LedgerClient.login(cluster.origin, cluster.clients.transactor)
  const names = Array.from({ length: 6 }, (_, number) => number)
  payers = await Promise.all(names.map((number) => funded(client, `payer-${number}@holds`, String(FUNDS))))
  beneficiaries = await Promise.all(names.map((number) => client.register(`shop-${number}@holds`)))
})
afterAll(async () => {
  client?.close()
  await cluster?.stop()
})

async function kill(kind: ProcessKind): Promise<void> {
  const [victim] = cluster.heads(kind)
  if (victim === undefined) throw new Error(`no ${kind} runs`)
  process.kill(victim.pid, 'SIGKILL')
  await until(`another ${kind} runs`, DEADLINE_MS, async () => {
    const now = cluster.heads(kind).map(({ pid }) => pid)
    return now.length > 0 && !now.includes(victim.pid) && (await cluster.isReady())
  })
}

function pending(): Promise<Members> {
  return client.read('/v1/transactions?status=pending&page_size=1')
}

/** The sum of the captures of each hold, as the audit chains of the accounts prove them. */
async function capturedByHold(holders: readonly Holder[]): Promise<ReadonlyMap<string, number>> {
  const sums = new Map<string, number>()
  for (const { accountId } of holders) {
    for (const entry of await client.readAll(`/v1/accounts/${accountId}/audit-chain`, 'entries')) {
      const { kind, hold_id: holdId, amount } = JSON.parse(textOf(entry, 'payload')) as Members
      if (kind !== 'transaction' || typeof holdId !== 'string') continue
      sums.set(holdId, (sums.get(holdId) ?? 0) + Number(amount))
    }
  }
  return sums
}

test('no unit is captured twice or lost', async () => {
  const load = new HoldLoad(client, payers, beneficiaries)
  load.start(CLIENTS, REQUESTS)
  for (const [turn, kind] of KINDS.entries()) {
    const due = ((turn + 1) * REQUESTS) / (KINDS.length + 1)
    await until(`${due} requests have a reply`, DEADLINE_MS, () => load.surprises.length > 0 || load.answered >= due)
    await kill(kind)
  }
  await load.finish(DEADLINE_MS)
  expect(load.surprises).toEqual([])
  expect(load.setbacks).toBeGreaterThan(0)
  await until('no capture is pending', DEADLINE_MS, async () => (await pending())['total_count'] === 0)
  const actives = payers.map(({ accountId }) => `/v1/accounts/${accountId}/holds`)
  await until('every hold has ended', DEADLINE_MS, async () => {
    const lists = await Promise.all(actives.map((path) => client.read(path)))
    return lists.every((list) => (list['holds'] as readonly Members[]).length === 0)
  })

  const sums = await capturedByHold(beneficiaries)
  expect(await capturedByHold(payers)).toEqual(sums)
  const paid = new Map<string, number>()
  const ends = new Set<unknown>()
  for (const { holdId, payer } of load.holds) {
    const hold = await client.read(`/v1/holds/${holdId}`)
    const sum = sums.get(holdId) ?? 0
    expect([holdId, Number(hold['captured'])]).toEqual([holdId, sum])
    expect(sum).toBeLessThanOrEqual(HOLD_AMOUNT)
    ends.add(hold['status'])
    paid.set(payer, (paid.get(payer) ?? 0) + sum)
  }
  expect(ends).toEqual(new Set(['captured', 'released', 'expired']))
  // Every capture is of a hold whose creation the client knows of.
  expect([...sums.keys()].filter((holdId) => !load.holds.some((hold) => hold.holdId === holdId))).toEqual([])
  await until('what remained is available again', DEADLINE_MS, async () => {
    const held = await Promise.all(payers.map(({ accountId }) => holdingOf(client, accountId)))
    return held.every(({ balance, available }) => balance === available)
  })
  for (const { accountId } of payers) {
    expect(await holdingOf(client, accountId)).toEqual(free(String(FUNDS - (paid.get(accountId) ?? 0))))
  }
  const total = [...paid.values()].reduce((sum, amount) => sum + amount, 0)
  const received = await Promise.all(beneficiaries.map(({ accountId }) => holdingOf(client, accountId)))
  expect(received.reduce((sum, { balance }) => sum + Number(balance), 0)).toBe(total)
})
