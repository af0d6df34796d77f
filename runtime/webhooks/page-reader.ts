/**
 * Pages of the event log for one delivery. The next page is read while the events of this one are sent.
 *   P1. A page whose read began `FRESH_MS` before it is asked for is not returned, but read again.
 */
import type { Clock } from '../ports/clock.ts'
import type { EventPosition } from '../ports/ledger-events.ts'
import { type EventFeed, FRESH_MS, type TimedPage } from './event-feed.ts'

export interface PageReader {
  readonly read: (after: EventPosition) => Promise<TimedPage>
  /** Begins to read the page that `read` is called for next, once `start` has resolved. Its failure is no result. */
  readonly readAhead: (after: EventPosition, start: Promise<void>) => void
}

export function createPageReader(feed: Pick<EventFeed, 'read'>, clock: Clock): PageReader {
  let ahead: { readonly after: EventPosition; readonly page: Promise<TimedPage | undefined> } | undefined
  return {
    async read(after) {
      const askedAtMs = clock.monotonic()
      const begun = ahead?.after === after ? ahead : undefined
      ahead = undefined
      const page = await begun?.page
      return page !== undefined && askedAtMs - page.readAtMs < FRESH_MS ? page : feed.read(after)
    },
    readAhead(after, start) {
      ahead = { after, page: start.then(() => feed.read(after)).catch(() => undefined) }
    },
  }
}
