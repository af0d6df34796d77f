/**
 * Copies the event log to a JetStream stream, encrypted for its reader (D23).
 *   E1. It continues behind the last event in the stream, and reads the end of the stream again after each failure.
 *   E2. The first event follows the beginning of the ledger. A stream that had events and has lost the position is refused,
 *       unless the operator wants all events again.
 *   E3. A subject contains the type of its event and nothing else.
 */
import { eventMembers, eventType } from '../../api/views/event-views.ts'
import { delay, type Clock } from '../../runtime/ports/clock.ts'
import {
  EventPositionForeign,
  EventsUnavailable,
  type EventPosition,
  type LedgerEvent,
  type LedgerEvents,
} from '../../runtime/ports/ledger-events.ts'
import type { Log } from '../../runtime/ports/log.ts'
import { encryptJwe } from '../keys/compact-jwe.ts'
import type { PublicKey } from '../keys/public-key.ts'
import { type EventStream, type StreamMessage, StreamUnavailable, StreamUnusable } from './event-stream-nats.ts'

export interface EventPublisherOptions {
  readonly events: Pick<LedgerEvents, 'read'>
  readonly stream: EventStream
  readonly ledgerId: string
  /** Of the subjects. */
  readonly prefix: string
  readonly recipient: PublicKey
  /** E2. */
  readonly restart: boolean
  readonly clock: Clock
  readonly log: Log
}

const PAGE_EVENTS = 200
const POLL_MS = 100
const RETRY_MS = 1_000
const SUMMARY_MS = 60_000

const REMEDY = 'start with --restart to publish all events again'

/** Where the publisher continues. */
interface Place {
  /** null: at the first event. */
  readonly after: EventPosition | null
  readonly sequence: number
}

export class EventPublisher {
  private readonly options: EventPublisherOptions
  private readonly summary: Summary
  private place: Place | undefined
  /** A position in the stream that is of another database. */
  private foreignPosition: EventPosition | null = null
  private isFailing = false
  private isStopped = false
  private running: Promise<void> | undefined

  constructor(options: EventPublisherOptions) {
    this.options = options
    this.summary = new Summary(options)
  }

  /** Resolves at `stop`. Rejects with StreamUnusable. */
  run(): Promise<void> {
    this.running ??= this.publish()
    return this.running
  }

  /** Resolves after the current page. */
  async stop(): Promise<void> {
    this.isStopped = true
    await this.running?.catch(() => undefined)
    this.summary.print()
  }

  private async publish(): Promise<void> {
    while (!this.isStopped) {
      try {
        this.place ??= await this.findPlace()
        this.place = await this.publishPage(this.place)
        this.isFailing = false
      } catch (error) {
        await this.afterFailure(error)
      }
    }
  }

  private async findPlace(): Promise<Place> {
    const { stream, restart } = this.options
    const { sequence, position } = await stream.end()
    if (position === null && sequence > 0 && !restart) {
      throw new StreamUnusable(`the last message of the stream, and with it the position, was deleted: ${REMEDY}`)
    }
    return { after: position === this.foreignPosition ? null : position, sequence }
  }

  /** undefined: the place is to be found again. */
  private async publishPage({ after, sequence: end }: Place): Promise<Place | undefined> {
    const { events: log, stream, clock } = this.options
    const { events, next } = await log.read(after, PAGE_EVENTS)
    if (events.length === 0) {
      await delay(clock, POLL_MS)
      return { after: next, sequence: end }
    }
    const messages = events.map((event) => this.messageOf(event))
    const { count, repeats, sequence, isOutrun } = await stream.add(messages, end)
    const last = events[count - 1]
    if (last === undefined) return undefined
    this.summary.add(count - repeats, repeats, last)
    return isOutrun ? undefined : { after: last.position, sequence }
  }

  private messageOf(event: LedgerEvent): StreamMessage {
    const { ledgerId, prefix, recipient } = this.options
    const { id, name, position } = event
    const body = encryptJwe(recipient, JSON.stringify(eventMembers(event, ledgerId)))
    return { id, subject: `${prefix}.${eventType(name)}`, body, position }
  }

  private async afterFailure(error: unknown): Promise<void> {
    const { restart, clock, log } = this.options
    const { after = null } = this.place ?? {}
    this.place = undefined
    if (error instanceof EventPositionForeign) {
      if (!restart) {
        throw new StreamUnusable(`the database was replaced since the last event: ${REMEDY}`, { cause: error })
      }
      this.foreignPosition = after
      return
    }
    if (!(error instanceof EventsUnavailable || error instanceof StreamUnavailable)) throw error
    if (!this.isFailing) log.warn('publishing_failed', { reason: error.message })
    this.isFailing = true
    await delay(clock, RETRY_MS)
  }
}

/** Logs the events of each minute. */
class Summary {
  private readonly options: Pick<EventPublisherOptions, 'clock' | 'log'>
  private events = 0
  private repeats = 0
  private lagMs: number | null = null
  private sinceMs: number

  constructor(options: Pick<EventPublisherOptions, 'clock' | 'log'>) {
    this.options = options
    this.sinceMs = options.clock.monotonic()
  }

  add(events: number, repeats: number, { timeMs }: LedgerEvent): void {
    const { clock } = this.options
    this.events += events
    this.repeats += repeats
    this.lagMs = timeMs === null ? this.lagMs : Math.max(0, clock.now() - timeMs)
    if (clock.monotonic() - this.sinceMs >= SUMMARY_MS) this.print()
  }

  print(): void {
    const { clock, log } = this.options
    const { events, repeats, lagMs } = this
    if (events + repeats > 0) log.info('events_published', { events, repeats, lag_ms: lagMs })
    this.events = 0
    this.repeats = 0
    this.sinceMs = clock.monotonic()
  }
}
