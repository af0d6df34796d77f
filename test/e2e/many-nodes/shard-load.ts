/**
 * A steady load of one client for each shard, each in a closed loop on an account of its shard, which retries under the
 * same key until it is acknowledged. It measures how long each shard was unavailable to its client. Clients send fast
 * during a fault, so that it meets many requests in flight, and slowly while its end is awaited.
 */
import { type Holder, type HttpReply, type LedgerClient, membersOf } from '../../support/client/client.ts'
import { type Members, signed, submissionHash } from '../../support/client/client-keys.ts'
import { until } from '../../support/processes/cluster-process.ts'
import type { Operation } from '../durability/durability-load.ts'

export interface ShardClient {
  readonly shardId: number
  readonly holder: Holder
  /** When something of it was acknowledged, by `performance.now()`. */
  readonly acknowledgedMs: number[]
}

/** A fault's effect, from its beginning until every shard was back. */
export interface Outage {
  /** The longest time without an acknowledgement, per shard, milliseconds, ascending. */
  readonly gapsMs: readonly number[]
  /** Until every shard had acknowledged something that was asked after the fault. */
  readonly recoveryMs: number
  /** Replies other than 202 with their counts, including `no answer`. */
  readonly others: ReadonlyMap<string, number>
}

const HURRIED_THINK_MS = 60
const THINK_MS = 300
const RETRY_MS = 20
/** Shorter than the test's limit, so that the missing acknowledgements are reported. */
const ACKNOWLEDGED_WITHIN_MS = 180_000

export class ShardLoad {
  readonly operations: Operation[] = []
  readonly shards: readonly ShardClient[]
  /** Replies that violate the interface. */
  readonly surprises: string[] = []
  private readonly edges: readonly LedgerClient[]
  private hurried = false
  /** Shards whose client waits for an acknowledgement. */
  private readonly waiting = new Set<ShardClient>()
  private others: { readonly atMs: number; readonly what: string }[] = []
  private stopping = false
  private abandoned = false
  private workers: readonly Promise<void>[] = []

  private constructor(edges: readonly LedgerClient[], shards: readonly ShardClient[]) {
    this.edges = edges
    this.shards = shards
  }

  /** Registers accounts until every shard has one. */
  static async open(edges: readonly LedgerClient[], shardCount: number): Promise<ShardLoad> {
    const [client] = edges
    if (client === undefined) throw new Error('a load needs an edge')
    const found = new Map<number, ShardClient>()
    for (let serial = 0; found.size < shardCount; serial += 1) {
      const holder = await client.register(`load-${serial}@shards`)
      const { shard_id: shardId } = await client.read(`/v1/accounts/${holder.accountId}`)
      if (!found.has(Number(shardId)))
        found.set(Number(shardId), { shardId: Number(shardId), holder, acknowledgedMs: [] })
    }
    return new ShardLoad(edges, [...found.values()])
  }

  start(): void {
    this.workers = this.shards.map((shard) => this.work(shard))
  }

  /** Resolves once every request is acknowledged. Throws if that takes too long. */
  async finish(): Promise<void> {
    this.stopping = true
    let ended = false
    const all = Promise.all(this.workers).then(() => (ended = true))
    await until('everything that was asked is acknowledged', ACKNOWLEDGED_WITHIN_MS, () => ended)
    await all
  }

  /** Sends no more requests, acknowledged or not: for the end of the ledger. */
  abandon(): void {
    this.stopping = true
    this.abandoned = true
  }

  /** Applies a fault, and waits until every shard acknowledges a new request. */
  async through(harm: () => Promise<void> | void, timeoutMs: number): Promise<Outage> {
    await this.hurry(timeoutMs)
    const sinceMs = performance.now()
    this.others = []
    await harm()
    const harmedMs = performance.now()
    this.hurried = false
    // Two: the first may have been under way before.
    const isBack = ({ acknowledgedMs }: ShardClient): boolean => (acknowledgedMs.at(-2) ?? 0) > harmedMs
    await until(
      'every shard acknowledges again',
      timeoutMs,
      () => this.surprises.length > 0 || this.shards.every(isBack),
    )
    if (this.surprises.length > 0) throw new Error(this.surprises.join('\n'))
    const gapsMs = this.shards.map((shard) => longestGap(shard.acknowledgedMs, sinceMs)).sort((a, b) => a - b)
    const firstAfter = this.shards.map(({ acknowledgedMs }) => acknowledgedMs.find((atMs) => atMs > harmedMs) ?? 0)
    const others = new Map<string, number>()
    for (const { what } of this.others) others.set(what, (others.get(what) ?? 0) + 1)
    return { gapsMs, recoveryMs: Math.max(...firstAfter) - sinceMs, others }
  }

  /** How long a client waits before it asks for the next, milliseconds. */
  thinkMs(): number {
    return this.hurried ? HURRIED_THINK_MS : THINK_MS
  }

  /** Resolves once no client takes its time any more: it has asked since, or waits for an answer. */
  private async hurry(timeoutMs: number): Promise<void> {
    const beganMs = performance.now()
    this.hurried = true
    const hurries = (shard: ShardClient): boolean =>
      this.waiting.has(shard) || (shard.acknowledgedMs.at(-1) ?? 0) > beganMs
    await until('every client hurries', timeoutMs, () => this.surprises.length > 0 || this.shards.every(hurries))
  }

  private async work(shard: ShardClient): Promise<void> {
    while (!this.stopping && this.surprises.length === 0) {
      const operation = this.begin(shard.holder)
      this.waiting.add(shard)
      await this.acknowledge(operation, shard)
      this.waiting.delete(shard)
      await pause(this.thinkMs())
    }
  }

  private begin({ accountId, keys }: Holder): Operation {
    const fields: Members = {
      account_id: accountId,
      amount: `${1 + (this.operations.length % 7)}`,
      type: this.operations.length % 3 === 2 ? 'debit' : 'credit',
      idempotency_key: `operation ${this.operations.length}`,
    }
    const body = signed(fields, keys.privateKey)
    const hash = submissionHash(fields)
    const operation: Operation = { accountId, fields, body, hash, setbacks: 0, acknowledged: undefined }
    this.operations.push(operation)
    return operation
  }

  private async acknowledge(operation: Operation, shard: ShardClient): Promise<void> {
    for (let tries = 0; this.surprises.length === 0 && !this.abandoned; tries += 1) {
      const edge = this.edges[(shard.shardId + tries) % this.edges.length]
      const reply = await edge?.post('/v1/transactions', operation.body).catch(() => undefined)
      if (reply?.status === 202) {
        operation.acknowledged = reply
        shard.acknowledgedMs.push(performance.now())
        return
      }
      operation.setbacks += 1
      this.others.push({ atMs: performance.now(), what: nameOf(reply) })
      if (reply !== undefined && !isHonest503(reply)) this.surprises.push(`${reply.status} ${reply.body}`)
      await pause(RETRY_MS)
    }
  }
}

function longestGap(momentsMs: readonly number[], sinceMs: number): number {
  let longest = 0
  let before = momentsMs.findLast((atMs) => atMs <= sinceMs) ?? sinceMs
  for (const atMs of momentsMs) {
    if (atMs <= sinceMs) continue
    longest = Math.max(longest, atMs - before)
    before = atMs
  }
  return longest
}

/** A client's response, for tables. */
export function nameOf(reply: HttpReply | undefined): string {
  if (reply === undefined) return 'no answer'
  const { code, outcome } = membersOf(reply)
  return [reply.status, code, outcome].filter((part) => part !== undefined).join(' ')
}

/** The reply states whether the request may have been applied, and when to retry. */
function isHonest503(reply: HttpReply): boolean {
  const { outcome } = membersOf(reply)
  const says = outcome === 'not_applied' || outcome === 'unknown'
  return reply.status === 503 && says && reply.headers['retry-after'] !== undefined
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, durationMs)
  })
}
