import type { FollowedEvent } from '../../client/index.ts'
import type { Event } from '../../client/index.ts'
import type { LedgerClient } from '../../client/index.ts'

/** An event and the time of its arrival, in milliseconds since 1970. */
export interface ArrivedEvent {
  readonly event: Event
  readonly arrivedAtMs: number
}

/** `failed`: the ledger refused the stream. */
export type FeedState = 'following' | 'failed'
export interface FeedListener {
  readonly onEvents: (events: readonly ArrivedEvent[]) => void
  readonly onState: (state: FeedState) => void
}

/** Listeners hear of events in groups, so that thousands a second do not each redraw the page. */
const GROUP_MS = 250

/** The events of the ledger from now on: one stream for all pages, open while a page listens. */
export class EventFeed {
  private readonly client: Pick<LedgerClient, 'events'>
  private readonly listeners = new Set<FeedListener>()
  private stop: AbortController | undefined
  private waiting: ArrivedEvent[] = []

  constructor(client: Pick<LedgerClient, 'events'>) {
    this.client = client
  }

  /** Returns the function that ends it. */
  listen(listener: FeedListener): () => void {
    this.listeners.add(listener)
    if (this.stop === undefined) void this.follow()
    listener.onState('following')
    return () => {
      this.listeners.delete(listener)
      if (this.listeners.size > 0) return
      this.stop?.abort()
      this.stop = undefined
      // Events of this stream are no news to a later listener.
      this.waiting = []
    }
  }

  private async follow(): Promise<void> {
    const stop = new AbortController()
    this.stop = stop
    const timer = setInterval(() => this.pass(), GROUP_MS)
    try {
      for await (const { event } of this.client.events({
        after: 'latest',
        signal: stop.signal,
      }) as AsyncIterable<FollowedEvent>) {
        this.waiting.push({ event, arrivedAtMs: Date.now() })
      }
    } catch {
      if (!stop.signal.aborted) for (const { onState } of this.listeners) onState('failed')
    } finally {
      clearInterval(timer)
      if (this.stop === stop) this.stop = undefined
    }
  }

  private pass(): void {
    const events = this.waiting
    if (events.length === 0) return
    this.waiting = []
    for (const { onEvents } of this.listeners) onEvents(events)
  }
}
