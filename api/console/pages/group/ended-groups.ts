import type { Event, EventList } from '../../../client/index.ts'
import type { ListPage, PagedRows } from '../../parts/loaded.ts'

/** One request examines 5,000 events of the log, of which few are about groups, and takes up to a second. */
const MOST_REQUESTS = 5
const ENOUGH_EVENTS = 100

/**
 * Reads the log on from a cursor: up to its end, for a number of requests, or until there are enough events. A page without
 * events is not the end, but a cursor that stays is.
 */
export async function readLog(after = '', read: (cursor: string) => Promise<EventList>): Promise<ListPage<Event>> {
  const rows: Event[] = []
  let cursor = after
  for (let count = 0; count < MOST_REQUESTS && rows.length < ENOUGH_EVENTS; count += 1) {
    const { events, next_cursor: next } = await read(cursor)
    rows.push(...events)
    if (next === cursor) return { rows, next: '' }
    cursor = next
  }
  return { rows, next: cursor }
}

/** The rows that were read, newest first, behind those that arrived since. */
export function withNewest(paged: PagedRows<Event>, arrived: readonly Event[]): PagedRows<Event> {
  if (paged.loaded.state !== 'done') return paged
  const { value } = paged.loaded
  const known = new Set(value.rows.map(({ id }) => id))
  const rows = [...arrived.filter(({ id }) => !known.has(id)), ...value.rows.toReversed()]
  return { ...paged, loaded: { state: 'done', value: { ...value, rows } } }
}
