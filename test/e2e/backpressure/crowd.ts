/**
 * Many clients that all submit to one account at once, each in a closed loop, and that ask again under the same key
 * until they are acknowledged, no sooner than they are told to, except for some who are turned away first, take
 * `not_applied` at its word and never come back.
 */
import { type Holder, type HttpReply, type LedgerClient, membersOf } from '../../support/client.ts'
import { signed, submissionHash } from '../../support/client-keys.ts'
import type { Operation } from '../durability-load.ts'

/** Before asking again, milliseconds; longer where the answer says so. */
const PAUSE_MS = 250
/** One in so many refused clients does not retry. */
const LEAVES_EVERY = 4
const LATENCY_SAMPLES = 21

export class Crowd {
  readonly holder: Holder
  /** Acknowledged operations. */
  readonly operations: Operation[] = []
  /** Replies 503 `not_applied` because of overload. */
  readonly turnedAway: HttpReply[] = []
  /** Replies 503 `not_applied` because no owner was reached. */
  readonly unreached: HttpReply[] = []
  /** The number of refused clients that did not retry. */
  left = 0
  /** Replies that no client should ever get. */
  readonly surprises: string[] = []
  private readonly client: LedgerClient
  private readonly size: number
  private serial = 0
  private stopping = false
  private workers: readonly Promise<void>[] = []

  private constructor(client: LedgerClient, holder: Holder, size: number) {
    this.client = client
    this.holder = holder
    this.size = size
  }

  static async open(client: LedgerClient, size: number): Promise<Crowd> {
    return new Crowd(client, await client.register('crowded@crowd'), size)
  }

  start(): void {
    this.stopping = false
    this.workers = Array.from({ length: this.size }, () => this.work())
  }

  /** Begins nothing new and waits until everything that was begun is acknowledged or given up. */
  async finish(): Promise<void> {
    this.stopping = true
    await Promise.all(this.workers)
  }

  private async work(): Promise<void> {
    while (!this.stopping && this.surprises.length === 0) await this.submit()
  }

  private async submit(): Promise<void> {
    const { accountId, keys } = this.holder
    this.serial += 1
    const mayLeave = this.serial % LEAVES_EVERY === 0
    const fields = { account_id: accountId, type: 'credit', amount: '1', idempotency_key: `crowd ${this.serial}` }
    const body = signed(fields, keys.privateKey)
    const operation: Operation = {
      accountId,
      fields,
      body,
      hash: submissionHash(fields),
      setbacks: 0,
      acknowledged: undefined,
    }
    while (this.surprises.length === 0) {
      const reply = await this.client.post('/v1/transactions', body).catch(() => undefined)
      if (reply?.status === 202) {
        operation.acknowledged = reply
        this.operations.push(operation)
        return
      }
      operation.setbacks += 1
      const { outcome, error_codes: codes } = reply?.status === 503 ? membersOf(reply) : {}
      if (reply !== undefined && outcome === 'not_applied') {
        const isUnreached = Array.isArray(codes) && codes.includes('ERR_SHARD_UNAVAILABLE')
        ;(isUnreached ? this.unreached : this.turnedAway).push(reply)
        if (mayLeave && !isUnreached && operation.setbacks === 1) {
          this.left += 1
          return
        }
      } else if (reply !== undefined && outcome !== 'unknown') this.surprises.push(`${reply.status} ${reply.body}`)
      const toldMs = 1_000 * Number(reply?.headers['retry-after'] ?? 0)
      await new Promise((resolve) => {
        setTimeout(resolve, Math.max(PAUSE_MS, toldMs))
      })
    }
  }
}

/** Of submissions one after the other. */
export async function medianLatencyMs(client: LedgerClient, holder: Holder): Promise<number> {
  const taken: number[] = []
  for (let sample = 0; sample < LATENCY_SAMPLES; sample += 1) {
    const sinceMs = performance.now()
    const fields = { type: 'credit', amount: '1', idempotency_key: `sample ${sinceMs}` }
    const reply = await client.submit(holder, fields)
    if (reply.status !== 202) throw new Error(`${reply.status} ${reply.body}`)
    taken.push(performance.now() - sinceMs)
  }
  return taken.sort((a, b) => a - b)[Math.floor(LATENCY_SAMPLES / 2)] ?? 0
}
