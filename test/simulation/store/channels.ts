/**
 * Messages between the shards of the simulated database, and their delivery state.
 *   M1. Sent, acknowledged and accepted numbers are counters: rows may be removed, counters never decrease (D6).
 *   M2. Numbers continue the stored counter without a gap, and a mark rises.
 */
import type {
  AcknowledgedChannel,
  ChannelStart,
  InboxMark,
  OutboxMessage,
  ShardBatch,
  WrittenEnvelope,
} from '../../../runtime/ports/ledger-store.ts'
import { broken, copyShard, itself, type RowRefusal } from './table.ts'
import { signedUnits, type ValueSink } from './value.ts'

interface OutboxRow {
  /** The envelope as JSON. */
  readonly text: string
  readonly carries: readonly { readonly tokenId: string; readonly units: bigint }[]
  readonly atMs: number
}

interface Channel {
  readonly source: number
  readonly target: number
  sent: number
  acknowledged: number
  /** The highest number that a row ever had. */
  highest: number
  /** By number, in the order of numbers. */
  readonly rows: Map<number, OutboxRow>
}

/** A message that its target has not accepted. */
export interface UnconsumedMessage extends OutboxMessage {
  readonly source: number
}

export interface ChannelTableOptions {
  readonly counted: ValueSink
  /** A mutation: the sent count is derived from the remaining rows. */
  readonly sentFromRows: boolean
}

export class ChannelTable {
  /** By source and target. */
  private readonly channels = new Map<string, Channel>()
  /** The last accepted number, by target and source. */
  private readonly taken = new Map<string, number>()
  private readonly options: ChannelTableOptions

  constructor(options: ChannelTableOptions) {
    this.options = options
  }

  channelStarts(shardId: number): readonly ChannelStart[] {
    return this.channelsOf(shardId).map((channel) => {
      const { target } = channel
      const acknowledged = this.knownOf(channel)
      if (!this.options.sentFromRows) return { target, sent: channel.sent, acknowledged }
      const sent = Math.max(0, ...numbersAbove(channel, acknowledged))
      return { target, sent, acknowledged: Math.min(acknowledged, sent) }
    })
  }

  marks(shardId: number): readonly InboxMark[] {
    const lead = `${shardId} `
    return [...this.taken]
      .filter(([at]) => at.startsWith(lead))
      .map(([at, mark]) => ({ source: Number(at.slice(lead.length)), mark }))
      .toSorted((left, right) => left.source - right.source)
  }

  /** Above the acknowledged number, in order per target. */
  outbox(shardId: number): readonly OutboxMessage[] {
    return this.channelsOf(shardId).flatMap((channel) => messagesAbove(channel, this.knownOf(channel)))
  }

  /** Messages that their targets have not accepted yet. */
  unconsumed(): readonly UnconsumedMessage[] {
    return [...this.channels.values()].flatMap((channel) =>
      messagesAbove(channel, this.markOf(channel)).map((message) => ({ source: channel.source, ...message })),
    )
  }

  acknowledge(channels: readonly AcknowledgedChannel[]): void {
    for (const { shardId, target, acknowledged } of channels) {
      const channel = this.channels.get(`${shardId} ${target}`)
      if (channel === undefined) continue
      channel.acknowledged = Math.max(channel.acknowledged, Math.min(acknowledged, channel.sent))
    }
  }

  prune(shardIds: readonly number[], writtenBeforeMs: number, limit: number): number {
    const all = this.options.sentFromRows
    let pruned = 0
    for (const channel of shardIds.flatMap((shardId) => this.channelsOf(shardId))) {
      for (const [number, row] of channel.rows) {
        if (number > channel.acknowledged || (!all && (pruned >= limit || row.atMs >= writtenBeforeMs))) break
        channel.rows.delete(number)
        if (number > this.markOf(channel)) this.count(row, -1n)
        pruned += 1
      }
    }
    return pruned
  }

  check({ token, outbox, sent, marks }: ShardBatch): RowRefusal | undefined {
    for (const { source, mark } of marks) {
      const at = `${token.shardId} ${source}`
      const stored = this.taken.get(at) ?? 0
      if (mark <= stored) return broken(`${at}: mark ${mark} on ${stored}`)
    }
    if (this.options.sentFromRows) return undefined
    const counters = new Map(sent.map((counter) => [counter.target, counter.sent]))
    if (counters.size !== sent.length) return broken(`${token.shardId}: a counter is written twice`)
    for (const { target } of outbox) {
      if (!counters.has(target)) return broken(`${token.shardId} ${target}: messages without their counter`)
    }
    for (const [target, last] of counters) {
      const stored = this.channels.get(`${token.shardId} ${target}`)?.sent ?? 0
      const numbers = outbox.filter((row) => row.target === target).map((row) => row.number)
      const follow = numbers
        .toSorted((left, right) => left - right)
        .every((number, index) => number === stored + index + 1)
      if (!follow || last !== stored + numbers.length) {
        return broken(`${token.shardId} ${target}: sent ${numbers.join(', ')} up to ${last} on ${stored}`)
      }
    }
    return undefined
  }

  apply({ token, outbox, sent, marks }: ShardBatch): void {
    const { shardId } = token
    for (const { source, mark } of marks) this.takeIn(shardId, source, mark)
    for (const { target, number, envelope, atMs } of outbox.toSorted((left, right) => left.number - right.number)) {
      const channel = this.channelTo(shardId, target)
      if (number <= channel.acknowledged) startAgain(channel, number)
      const carries = envelope.carries.map(({ tokenId, quantity }) => ({ tokenId, units: signedUnits(quantity) }))
      const row = { text: JSON.stringify(envelope), carries, atMs }
      channel.rows.set(number, row)
      channel.highest = Math.max(channel.highest, number)
      if (number > this.markOf(channel)) this.count(row, 1n)
    }
    for (const counter of sent) this.channelTo(shardId, counter.target).sent = counter.sent
  }

  copyShard(shardId: number, copy: ChannelTable): void {
    copyShard(this.channels, copy.channels, shardId, (channel) => ({ ...channel, rows: new Map(channel.rows) }))
    copyShard(this.taken, copy.taken, shardId, itself)
  }

  private takeIn(target: number, source: number, mark: number): void {
    const channel = this.channels.get(`${source} ${target}`)
    if (channel !== undefined) {
      const stored = this.markOf(channel)
      for (let number = stored + 1; number <= Math.min(mark, channel.highest); number += 1) {
        const row = channel.rows.get(number)
        if (row !== undefined) this.count(row, -1n)
      }
    }
    this.taken.set(`${target} ${source}`, mark)
  }

  private channelsOf(shardId: number): readonly Channel[] {
    return [...this.channels.values()]
      .filter(({ source }) => source === shardId)
      .toSorted((left, right) => left.target - right.target)
  }

  private channelTo(source: number, target: number): Channel {
    const at = `${source} ${target}`
    const known = this.channels.get(at)
    if (known !== undefined) return known
    const channel: Channel = { source, target, sent: 0, acknowledged: 0, highest: 0, rows: new Map() }
    this.channels.set(at, channel)
    return channel
  }

  /**
   * The highest number known to be accepted: the acknowledgement, recorded late, or the mark itself. A mark above the
   * sent number is ignored.
   */
  private knownOf(channel: Channel): number {
    const mark = this.markOf(channel)
    return mark <= channel.sent ? Math.max(channel.acknowledged, mark) : channel.acknowledged
  }

  private markOf({ source, target }: Channel): number {
    return this.taken.get(`${target} ${source}`) ?? 0
  }

  private count({ carries }: OutboxRow, sign: bigint): void {
    for (const { tokenId, units } of carries) this.options.counted('carried', tokenId, sign * units)
  }
}

/** Without counters the numbers start again: acknowledged rows are removed. */
function startAgain(channel: Channel, number: number): void {
  for (const old of channel.rows.keys()) if (old <= channel.acknowledged) channel.rows.delete(old)
  channel.acknowledged = number - 1
}

function numbersAbove({ rows }: Channel, floor: number): readonly number[] {
  return [...rows.keys()].filter((number) => number > floor)
}

function messagesAbove(channel: Channel, floor: number): readonly OutboxMessage[] {
  return numbersAbove(channel, floor).map((number) => {
    const text = channel.rows.get(number)?.text ?? ''
    return { target: channel.target, number, envelope: JSON.parse(text) as WrittenEnvelope }
  })
}
