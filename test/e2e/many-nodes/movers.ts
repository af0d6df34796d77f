/** Accounts on many shards that constantly send each other value. Their total must stay the same (I4). */
import { type Holder, type LedgerClient, membersOf, textOf } from '../../support/client/client.ts'
import type { Members } from '../../support/client/client-keys.ts'
import { until } from '../../support/processes/cluster-process.ts'
import { nameOf } from './shard-load.ts'

const EACH_HAS = 1_000
const SETTLED_WITHIN_MS = 180_000

export class Movers {
  /** Acknowledged transfers. */
  readonly transactions: string[] = []
  /** Responses other than 202. */
  readonly others: string[] = []
  private readonly edges: readonly LedgerClient[]
  private readonly holders: readonly Holder[]
  private readonly thinkMs: () => number
  private workers: readonly Promise<void>[] = []
  private stopping = false

  private constructor(edges: readonly LedgerClient[], holders: readonly Holder[], thinkMs: () => number) {
    this.edges = edges
    this.holders = holders
    this.thinkMs = thinkMs
  }

  /** Creates an account on each shard: value moves within and between nodes. `thinkMs`: the pause between orders. */
  static async open(edges: readonly LedgerClient[], count: number, thinkMs: () => number): Promise<Movers> {
    const [client] = edges
    if (client === undefined) throw new Error('movers need an edge')
    const holders: Holder[] = []
    const shardIds = new Set<unknown>()
    for (let number = 0; holders.length < count; number += 1) {
      const holder = await client.register(`mover-${number}@shards`)
      const { shard_id: shardId } = await client.read(`/v1/accounts/${holder.accountId}`)
      if (shardIds.has(shardId)) continue
      shardIds.add(shardId)
      holders.push(holder)
      const funded = await client.submit(holder, { type: 'credit', amount: `${EACH_HAS}`, idempotency_key: 'funds' })
      if (funded.status !== 202) throw new Error(`funding: ${funded.status} ${funded.body}`)
    }
    return new Movers(edges, holders, thinkMs)
  }

  start(): void {
    this.workers = this.holders.map((holder, index) => this.work(holder, index))
  }

  async finish(): Promise<void> {
    this.stop()
    await Promise.all(this.workers)
  }

  /** Stops; requests in flight end by themselves. */
  stop(): void {
    this.stopping = true
  }

  /** The errors after the end of all transfers. */
  async faults(): Promise<readonly string[]> {
    const [client] = this.edges
    if (client === undefined) return ['there is no edge']
    await until('no transfer is pending', SETTLED_WITHIN_MS, async () => {
      const { total_count: pending } = await client.read('/v1/transactions?status=pending&page_size=1')
      return pending === 0
    })
    const faults: string[] = []
    let sum = 0
    for (const { accountId } of this.holders) {
      const { balances } = await client.read(`/v1/accounts/${accountId}/balances`)
      for (const held of balances as readonly Members[]) sum += Number(textOf(held, 'balance'))
    }
    const expected = this.holders.length * EACH_HAS
    if (sum !== expected) faults.push(`movers have ${sum} of ${expected}`)
    for (const txnId of this.transactions) {
      const { status } = await client.read(`/v1/transactions/${txnId}`)
      if (status !== 'completed' && status !== 'failed') faults.push(`${txnId} is ${String(status)}`)
    }
    return faults
  }

  private async work(holder: Holder, index: number): Promise<void> {
    for (let serial = 1; !this.stopping; serial += 1) {
      const to = this.holders[(index + serial) % this.holders.length]
      if (to === undefined || to === holder) continue
      const fields = {
        type: 'transfer',
        amount: '1',
        to_account_id: to.accountId,
        idempotency_key: `transfer ${serial}`,
      }
      for (let tries = 0; ; tries += 1) {
        const edge = this.edges[(index + tries) % this.edges.length]
        const reply = await edge?.submit(holder, fields).catch(() => undefined)
        await new Promise((resolve) => {
          setTimeout(resolve, this.thinkMs())
        })
        if (reply?.status !== 202) this.others.push(nameOf(reply))
        if (reply?.status === 202) this.transactions.push(textOf(membersOf(reply), 'txn_id'))
        if (reply?.status === 202 || this.stopping) break
      }
    }
  }
}
