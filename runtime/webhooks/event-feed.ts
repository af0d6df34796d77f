/**
 * Reads the event log for all webhooks of an edge.
 *   F1. Webhooks at the same position share one read, so that idle webhooks cost one query an interval, however many.
 */
import type { Clock, Timer } from '../ports/clock.ts'
import type { EventPage, EventPosition, LedgerEvents } from '../ports/ledger-events.ts'

export interface EventFeed {
  readonly read: (after: EventPosition) => Promise<EventPage>
  /** Resolves when the log may have more: all that wait go on together. */
  readonly interval: () => Promise<void>
}

/** Events of one read. */
const PAGE_SIZE = 100
const INTERVAL_MS = 100

export function createEventFeed(events: Pick<LedgerEvents, 'read'>, clock: Clock): EventFeed {
  const reads = new Map<EventPosition, Promise<EventPage>>()
  let waiting: (() => void)[] = []
  let timer: Timer | undefined

  return {
    read(after) {
      const joined = reads.get(after)
      if (joined !== undefined) return joined
      const read = events.read(after, PAGE_SIZE).finally(() => reads.delete(after))
      reads.set(after, read)
      return read
    },
    interval: () =>
      new Promise((resolve) => {
        waiting.push(resolve)
        timer ??= clock.after(INTERVAL_MS, () => {
          const due = waiting
          waiting = []
          timer = undefined
          for (const goOn of due) goOn()
        })
      }),
  }
}
