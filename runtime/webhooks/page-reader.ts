/**
 * Pages of the event log for one delivery. The next page is read while the events of this one are sent.
 *   P1. A page whose read began `FRESH_MS` before it is asked for is not returned, but read again.
 */
import type { Clock } from '../ports/clock.ts'
import type { EventPage, EventPosition } from '../ports/ledger-events.ts'
import type { EventFeed } from './event-feed.ts'

export interface TimedPage extends EventPage {
  /** On the monotonic clock, before the read. */
  readonly readAtMs: number
}

export interface PageReader {
  readonly read: (after: EventPosition) => Promise<TimedPage>
  /** Begins to read the page that `read` is called for next, once `start` has resolved. Its failure is no result. */
  readonly readAhead: (after: EventPosition, start: Promise<void>) => void
}

export const FRESH_MS = 1_000

export function createPageReader(feed: Pick<EventFeed, 'read'>, clock: Clock): PageReader {
  let ahead: Ahead | undefined

  async function readNow(after: EventPosition): Promise<TimedPage> {
    const readAtMs = clock.monotonic()
    return { ...(await feed.read(after)), readAtMs }
  }

  return {
    async read(after) {
      const begun = ahead
      ahead = undefined
      const isFresh = begun?.after === after && clock.monotonic() - begun.beganAtMs < FRESH_MS
      return (isFresh ? await begun.page : undefined) ?? readNow(after)
    },
    readAhead(after, start) {
      const begun: Ahead = {
        after,
        beganAtMs: Infinity,
        page: start
          .then(() => {
            begun.beganAtMs = clock.monotonic()
            return readNow(after)
          })
          .catch(() => undefined),
      }
      ahead = begun
    },
  }
}

interface Ahead {
  readonly after: EventPosition
  /** On the monotonic clock; infinite before it began. */
  beganAtMs: number
  readonly page: Promise<TimedPage | undefined>
}
