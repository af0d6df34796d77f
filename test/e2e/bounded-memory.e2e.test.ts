/**
 * A node keeps at most the configured number of actors in memory. An evicted actor is unchanged at its next use. One
 * node, one edge, real processes.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Holder, LedgerClient } from '../support/client/client.ts'
import { holdingOf } from '../support/client/client-moves.ts'
import { type Cluster, startCluster } from '../support/processes/cluster-process.ts'
import { freePorts } from '../support/processes/free-ports.ts'
import { sampleOf } from '../unit/metrics/samples.ts'

const SHARDS = 4
const ACTORS_PER_SHARD = 3
const BOUND = SHARDS * ACTORS_PER_SHARD
const ACCOUNTS = 120
/** Each client has one request in flight. */
const CLIENTS = 8
/**
 * Actors in use are not evicted, nor those used since the last check: of each client its present request, its previous
 * one, and those not checked again before the next commit of their shard.
 */
const IN_USE = 3 * CLIENTS
const LOOK_EVERY_MS = 20

let cluster: Cluster
let client: LedgerClient
let watchedAt: string

beforeAll(async () => {
  const [port = 0] = await freePorts(3)
  cluster = await startCluster({
    env: {
      LEDGER_SHARDS: String(SHARDS),
      LEDGER_ACTORS_PER_SHARD: String(ACTORS_PER_SHARD),
      LEDGER_METRICS_PORT: String(port),
    },
  })
  // The edge has the first.
  watchedAt = `http://127.0.0.1:${port + 1}/metrics`
  client = await LedgerClient.login(cluster.origin, cluster.clients.transactor)
})

afterAll(async () => {
  client.close()
  await cluster.stop()
})

async function actorsInMemory(): Promise<number> {
  const response = await fetch(watchedAt)
  const found = sampleOf(await response.text(), 'ledger_actors_in_memory')
  if (found === undefined) throw new Error('the node does not say how many actors it keeps')
  return found
}

/** Runs `work` for each item, a few at a time. */
async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items]
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item)
    }),
  )
}

/** The highest polled number of actors in memory while `happens` runs. */
async function mostDuring(happens: () => Promise<void>): Promise<number> {
  const over = new AbortController()
  const watching = (async () => {
    let most = 0
    while (!over.signal.aborted) {
      most = Math.max(most, await actorsInMemory())
      await delay(LOOK_EVERY_MS)
    }
    return most
  })()
  await happens().finally(() => over.abort())
  return watching
}

test('more accounts than memory holds keep right balances, and the limit is never exceeded', async () => {
  const holders: Holder[] = []
  const ordered = async (holder: Holder, key: string, type: 'credit' | 'debit', amount: string): Promise<void> => {
    const reply = await client.submit(holder, { type, amount, idempotency_key: key })
    if (reply.status !== 202) throw new Error(`${key} of ${holder.accountId}: ${reply.status} ${reply.body}`)
  }
  const most = await mostDuring(async () => {
    const names = Array.from({ length: ACCOUNTS }, (_, number) => `account-${number}@bound`)
    await forEach(names, async (name) => void holders.push(await client.register(name)))
    // Each account is evicted long before its next turn.
    await forEach(holders, (holder) => ordered(holder, 'in', 'credit', '10'))
    await forEach(holders, (holder) => ordered(holder, 'out', 'debit', '4'))
    await forEach(holders, (holder) => ordered(holder, 'in', 'credit', '10'))
  })

  expect(most).toBeGreaterThan(ACTORS_PER_SHARD)
  expect(most).toBeLessThanOrEqual(BOUND + IN_USE)
  const { transactions, total_count: count } = await client.read('/v1/transactions?page_size=1000&status=completed')
  expect([count, (transactions as readonly unknown[]).length]).toEqual([2 * ACCOUNTS, 2 * ACCOUNTS])
  await forEach(holders, async (holder) => expect((await holdingOf(client, holder.accountId)).balance).toBe('6'))
  // This account was evicted.
  await forEach(holders, (holder) => ordered(holder, 'more', 'debit', '6.01'))
  expect((await client.read('/v1/transactions?status=failed'))['total_count']).toBe(ACCOUNTS)
})
