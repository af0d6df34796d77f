/**
 * Clients under load. Each signs an order once, and retries it with the same key until it is acknowledged. The load
 * records requests, replies and immediate reads, for comparison with the ledger.
 */
import { type Holder, type HttpReply, type LedgerClient, membersOf, textOf } from '../../support/client/client.ts'
import { type Members, signed, submissionHash } from '../../support/client/client-keys.ts'
import { until } from '../../support/processes/cluster-process.ts'

export interface Operation {
  readonly accountId: string
  readonly fields: Members
  readonly body: Members
  readonly hash: string
  /** Attempts without a reply, or with a 503. */
  setbacks: number
  /** The reply with status 202. */
  acknowledged: HttpReply | undefined
}

/** A client's action before it retries. */
const BACK_OFF_MS = 40
const LOOK_AT_EVERY = 4
/** Types of orders for a random choice: credits keep most balances above zero. */
const TYPES = ['credit', 'credit', 'debit', 'transfer', 'transfer']
const OUTCOMES = new Set<unknown>(['not_applied', 'unknown'])

export class DurabilityLoad {
  readonly operations: Operation[] = []
  readonly inFlight = new Set<Operation>()
  /** Replies that violate the interface. */
  readonly surprises: string[] = []
  /** The number of requests without a reply, and of replies with status 503. */
  readonly setbacks = { unanswered: 0, unavailable: 0 }
  acknowledged = 0
  private readonly client: LedgerClient
  private readonly holders: readonly Holder[]
  private stopping = false
  private workers: readonly Promise<void>[] = []

  private readonly common: Members

  /** `common`: fields of every order. */
  constructor(client: LedgerClient, holders: readonly Holder[], common: Members = {}) {
    this.client = client
    this.holders = holders
    this.common = common
  }

  start(clients: number): void {
    this.workers = Array.from({ length: clients }, () => this.work())
  }

  /** Starts no new orders and waits until all are acknowledged. */
  async finish(timeoutMs: number): Promise<void> {
    this.stopping = true
    await until('everything is acknowledged', timeoutMs, () => this.inFlight.size === 0)
    await Promise.all(this.workers)
  }

  private async work(): Promise<void> {
    while (!this.stopping && this.surprises.length === 0) {
      const operation = this.begin()
      await this.acknowledge(operation)
      // Only some clients read, so that most submit at any moment.
      if (operation.acknowledged !== undefined && this.acknowledged % LOOK_AT_EVERY === 0) {
        await this.lookAt(operation.acknowledged)
      }
    }
  }

  private begin(): Operation {
    const place = Math.floor(Math.random() * this.holders.length)
    const [holder, receiver] = [this.holders[place], this.holders[(place + 1) % this.holders.length]]
    if (holder === undefined || receiver === undefined) throw new Error('there are no accounts')
    const type = TYPES[Math.floor(Math.random() * TYPES.length)] ?? 'credit'
    const fields = {
      ...this.common,
      account_id: holder.accountId,
      amount: `${1 + Math.floor(Math.random() * 20)}.${1 + Math.floor(Math.random() * 9)}`,
      type,
      idempotency_key: `operation ${this.operations.length}`,
      ...(type === 'transfer' ? { to_account_id: receiver.accountId } : {}),
    }
    const operation: Operation = {
      accountId: holder.accountId,
      fields,
      body: signed(fields, holder.keys.privateKey),
      hash: submissionHash(fields),
      setbacks: 0,
      acknowledged: undefined,
    }
    this.operations.push(operation)
    return operation
  }

  private async acknowledge(operation: Operation): Promise<void> {
    this.inFlight.add(operation)
    while (this.surprises.length === 0) {
      const reply = await this.client.post('/v1/transactions', operation.body).catch(() => undefined)
      if (reply?.status === 202) {
        operation.acknowledged = reply
        this.acknowledged += 1
        break
      }
      operation.setbacks += 1
      if (reply === undefined) this.setbacks.unanswered += 1
      else if (isHonest503(reply)) this.setbacks.unavailable += 1
      else this.surprises.push(`submission: ${reply.status} ${reply.body}`)
      await new Promise((resolve) => setTimeout(resolve, BACK_OFF_MS))
    }
    this.inFlight.delete(operation)
  }

  /** D8: a read of an acknowledged transaction never replies 404, also during a fault. */
  private async lookAt(acknowledged: HttpReply): Promise<void> {
    const path = `/v1/transactions/${textOf(membersOf(acknowledged), 'txn_id')}`
    const reply = await this.client.get(path).catch(() => undefined)
    if (reply !== undefined && reply.status !== 200 && reply.status !== 503) {
      this.surprises.push(`GET ${path} after its 202: ${reply.status} ${reply.body}`)
    }
  }
}

/** Every 503 to an order states whether it may have been applied (D8). */
function isHonest503(reply: HttpReply): boolean {
  return reply.status === 503 && OUTCOMES.has(membersOf(reply)['outcome'])
}
