/**
 * Reads the event log for all webhooks of an edge.
 *   F1. Webhooks at the same position share one read of the same size, so that idle webhooks cost one query an interval,
 *       however many.
 *   F2. A page has the time at which its read began. A read that began `FRESH_MS` ago is not shared.
 */
import type { Clock, Timer } from '../ports/clock.ts'
import type { EventPage, EventPosition, LedgerEvents } from '../ports/ledger-events.ts'

export interface TimedPage extends EventPage {
  /** On the monotonic clock, before the read. */
  readonly readAtMs: number
}

export interface EventFeed {
  /** At most `limit` events after the position. */
  readonly read: (after: EventPosition, limit: number) => Promise<TimedPage>
  /** Resolves when the log may have more: all that wait go on together. */
  readonly interval: () => Promise<void>
}

/** An erasure may have changed the events of a page that is older. */
export const FRESH_MS = 1_000
/** Most events of a page, and those of an idle webhook, whose reads are shared (F1). */
export const PAGE_SIZE = 100
const INTERVAL_MS = 100

export function createEventFeed(events: Pick<LedgerEvents, 'read'>, clock: Clock): EventFeed {
  const reads = new Map<string, SharedRead>()
  let waiting: (() => void)[] = []
  let timer: Timer | undefined

  return {
    read(after, limit) {
      const key = `${limit} ${after}`
      const readAtMs = clock.monotonic()
      const running = reads.get(key)
      if (running !== undefined && readAtMs - running.readAtMs < FRESH_MS) return running.page
      const read: SharedRead = {
        readAtMs,
        page: events
          .read(after, limit)
          .then((page) => ({ ...page, readAtMs }))
          .finally(() => {
            if (reads.get(key) === read) reads.delete(key)
          }),
      }
      reads.set(key, read)
      return read.page
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

interface SharedRead {
  readonly readAtMs: number
  readonly page: Promise<TimedPage>
}
