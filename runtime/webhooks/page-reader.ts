/**
 * Pages of the event log for one delivery. The next page is read while the events of this one are sent.
 *   P1. A page whose read began `FRESH_MS` before it is asked for is not returned, but read again.
 *   P2. A page has about as many events as the receiver accepts in `FRESH_MS`: what is sent later is read again. A receiver
 *       that is slower than that, or fails, has one event read for each attempt.
 */
import type { Clock } from '../ports/clock.ts'
import type { EventPosition } from '../ports/ledger-events.ts'
import { type EventFeed, FRESH_MS, PAGE_SIZE, type TimedPage } from './event-feed.ts'

export interface PageReader {
  /** `after`: behind the events of the last page that the receiver accepted, or that were left out. */
  readonly read: (after: EventPosition) => Promise<TimedPage>
  /** Begins to read the page that `read` is called for next, once `start` has resolved. Its failure is no result. */
  readonly readAhead: (after: EventPosition, start: Promise<void>) => void
}

export function createPageReader(feed: Pick<EventFeed, 'read'>, clock: Clock): PageReader {
  let ahead: { readonly after: EventPosition; readonly page: Promise<TimedPage | undefined> } | undefined
  let last: TimedPage | undefined
  let size = PAGE_SIZE
  return {
    async read(after) {
      const askedAtMs = clock.monotonic()
      const begun = ahead?.after === after ? ahead : undefined
      if (last !== undefined) size = sizeAfter(last, after, { size, askedAtMs })
      ahead = undefined
      last = undefined
      const early = await begun?.page
      last = early !== undefined && askedAtMs - early.readAtMs < FRESH_MS ? early : await feed.read(after, size)
      return last
    },
    readAhead(after, start) {
      // The page would be too old once its first event is due.
      if (size === 1) return
      ahead = { after, page: start.then(() => feed.read(after, size)).catch(() => undefined) }
    },
  }
}

/** P2. A size that leaves half of the time unused is doubled. */
function sizeAfter(
  { events, next, readAtMs }: TimedPage,
  after: EventPosition,
  { size, askedAtMs }: { readonly size: number; readonly askedAtMs: number },
): number {
  const ageMs = askedAtMs - readAtMs
  if (after === next && ageMs < FRESH_MS) return ageMs < FRESH_MS / 2 ? Math.min(2 * size, PAGE_SIZE) : size
  const accepted = after === next ? events.length : events.findIndex(({ position }) => position === after) + 1
  return Math.max(1, accepted)
}
