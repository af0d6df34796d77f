/**
 * Readers of the event log while nodes, edges, NATS and PostgreSQL are killed under load: a reader of pages, a stream and
 * a webhook each end with exactly the transactions of the ledger, each account's in order (D23).
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Holder, LedgerClient, membersOf, textOf } from '../../support/client/client.ts'
import { type Cluster, startCluster, until } from '../../support/processes/cluster-process.ts'
import { forAll } from '../durability/durability-audit.ts'
import {
  type EventReader,
  readPages,
  readStream,
  receiveWebhook,
  type SeenEvent,
  type WebhookReader,
} from '../../support/client/event-readers.ts'

const ACCOUNTS = 64
const CLIENTS = 32
const KINDS = ['node', 'edge', 'nats-server', 'postgresql'] as const
const RECOVERS_WITHIN_MS = 180_000
const RETRY_MS = 40
/** Messages of the webhook. */
const FAILS_EVERY = 5
const REPORT_EVERY_MS = 10_000
const TYPES = ['credit', 'credit', 'debit', 'transfer'] as const

export interface EventsOptions {
  /** Orders of clients; a transfer that completes is a transaction of its receiver, too. */
  readonly orders: number
  /** Each kills one process of each kind. */
  readonly rounds: number
  /** For readers to see all events after the last order. */
  readonly readWithinMs: number
}

let cluster: Cluster
let edges: readonly LedgerClient[]
let webhook: WebhookReader
let readers: readonly EventReader[]

export function eventsSuite({ orders, rounds, readWithinMs }: EventsOptions): void {
  beforeAll(async () => {
    cluster = await startCluster({ nodes: 2, edges: 2, env: { LEDGER_ACCESS_TOKEN_TTL_SECONDS: '86400' } })
    const client = await LedgerClient.login(cluster.origin, cluster.clients.admin)
    edges = cluster.origins.map((origin) => client.at(origin))
    const start = textOf(membersOf(await client.get('/v1/events?after=latest')), 'next_cursor')
    webhook = await receiveWebhook(client, FAILS_EVERY)
    readers = [readPages(edges, start), readStream(edges, start), webhook]
  })
  afterAll(async () => {
    await Promise.all(readers.map((reader) => reader.stop()))
    for (const edge of edges) edge.close()
    await cluster.stop()
  })

  test(
    `${orders} orders, ${rounds * KINDS.length} kills: each reader has each transaction once`,
    { timeout: 2 * readWithinMs },
    async () => {
      const load = new Orders(orders)
      const ended = load.run()
      for (let kill = 0; kill < rounds * KINDS.length; kill += 1) {
        const due = Math.floor((orders * (kill + 1)) / (rounds * KINDS.length + 1))
        await until(
          `${due} orders are acknowledged`,
          readWithinMs,
          () => load.surprises.length > 0 || load.acknowledged >= due,
        )
        expect(load.surprises).toEqual([])
        await killOne(KINDS[kill % KINDS.length] ?? 'node')
      }
      await ended
      expect(load.surprises).toEqual([])
      expect(load.unanswered).toBeGreaterThan(0)
      await until('no transfer is pending', RECOVERS_WITHIN_MS, async () => (await countOf('pending')) === 0)
      const total = (await countOf('completed')) + (await countOf('failed'))
      await untilRead(total, readWithinMs)

      const transactions = await allTransactions()
      expect(transactions.length).toBe(total)
      for (const { name, seen } of readers) {
        expect([name, seen.length, missing(transactions, seen)]).toEqual([name, total, []])
        expect([name, outOfOrder(seen)]).toEqual([name, []])
      }
      expect(readers.map(({ setbacks }) => setbacks() > 0)).toEqual([true, true, true])
      expect(webhook.forged()).toBe(0)
      process.stdout.write(`${report(total)}; ${webhook.repeated()} messages of the webhook repeated\n`)
    },
  )
}

/** Clients that submit until all orders are acknowledged, at any edge. */
class Orders {
  acknowledged = 0
  unanswered = 0
  /** Responses that violate the interface. */
  readonly surprises: string[] = []
  private begun = 0
  private readonly count: number

  constructor(count: number) {
    this.count = count
  }

  async run(): Promise<void> {
    const holders: Holder[] = []
    const names = Array.from({ length: ACCOUNTS }, (_, number) => `account-${number}@events`)
    await forAll(names, async (name) => void holders.push(await client().register(name)))
    await Promise.all(Array.from({ length: CLIENTS }, (_, index) => this.work(holders, index)))
  }

  private async work(holders: readonly Holder[], index: number): Promise<void> {
    while (this.begun < this.count && this.surprises.length === 0) {
      const number = this.begun
      this.begun += 1
      const [holder, receiver] = [holders[number % ACCOUNTS], holders[(number * 7 + 1) % ACCOUNTS]]
      if (holder === undefined || receiver === undefined) throw new Error('there are no accounts')
      const type = holder === receiver ? 'credit' : (TYPES[Math.floor(number / ACCOUNTS) % TYPES.length] ?? 'credit')
      const to = type === 'transfer' ? { to_account_id: receiver.accountId } : {}
      const order = { type, amount: `${1 + (number % 9)}`, idempotency_key: `order ${number}`, ...to }
      for (let tries = index; ; tries += 1) {
        const reply = await edges[tries % edges.length]?.submit(holder, order).catch(() => undefined)
        if (reply?.status === 202) break
        if (reply === undefined) this.unanswered += 1
        else if (reply.status !== 503) return void this.surprises.push(`order ${number}: ${reply.status} ${reply.body}`)
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
      this.acknowledged += 1
    }
  }
}

function client(): LedgerClient {
  const [edge] = edges
  if (edge === undefined) throw new Error('there is no edge')
  return edge
}

async function killOne(kind: (typeof KINDS)[number]): Promise<void> {
  const before = cluster.heads(kind).map(({ pid }) => pid)
  const victim = before[Math.floor(Math.random() * before.length)]
  if (victim === undefined) throw new Error(`no ${kind} runs`)
  process.kill(victim, 'SIGKILL')
  await until(`another ${kind} runs`, RECOVERS_WITHIN_MS, () => {
    const now = cluster.heads(kind).map(({ pid }) => pid)
    return now.length === before.length && !now.includes(victim)
  })
}

async function countOf(status: string): Promise<number> {
  const reply = await client()
    .get(`/v1/transactions?status=${status}&page_size=1`)
    .catch(() => undefined)
  return reply?.status === 200 ? Number(membersOf(reply)['total_count']) : Number.NaN
}

async function allTransactions(): Promise<readonly string[]> {
  return (await client().readAll('/v1/transactions', 'transactions')).map((one) => textOf(one, 'txn_id'))
}

async function untilRead(total: number, timeoutMs: number): Promise<void> {
  let reportedAtMs = performance.now()
  await until(`each reader has ${total} events`, timeoutMs, () => {
    if (performance.now() - reportedAtMs > REPORT_EVERY_MS) {
      reportedAtMs = performance.now()
      process.stdout.write(`${report(total)}\n`)
    }
    return readers.every(({ seen }) => seen.length >= total)
  })
}

function report(total: number): string {
  const parts = readers.map(({ name, seen, setbacks }) => `${name} ${seen.length} (${setbacks()} setbacks)`)
  return `${total} transactions; ${parts.join(', ')}`
}

function missing(transactions: readonly string[], seen: readonly SeenEvent[]): readonly string[] {
  const found = new Set(seen.map(({ txnId }) => txnId))
  return transactions.filter((txnId) => !found.has(txnId)).slice(0, 10)
}

/** Events that came after one of a later entry of the same account. */
function outOfOrder(seen: readonly SeenEvent[]): readonly SeenEvent[] {
  const last = new Map<string, number>()
  const wrong: SeenEvent[] = []
  for (const event of seen) {
    if (event.sequence === null) continue
    if (event.sequence <= (last.get(event.accountId) ?? -1)) wrong.push(event)
    last.set(event.accountId, event.sequence)
  }
  return wrong.slice(0, 10)
}
