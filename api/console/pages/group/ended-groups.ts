import type { Event, EventList } from '../../../client/index.ts'
import type { ListPage, PagedRows } from '../../parts/loaded.ts'
import type { ArrivedEvent } from '../../session/event-feed.ts'

/** One request examines 5,000 events of the log, of which few are about groups, and takes up to a second. */
const MOST_REQUESTS = 5
const ENOUGH_EVENTS = 100
/** Arrived groups that an open page keeps. */
export const MOST_ARRIVED = 1_000

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

/** The newest ended groups among these events, before those that arrived earlier; at most `MOST_ARRIVED` of them. */
export function withArrived(before: readonly Event[], events: readonly ArrivedEvent[]): readonly Event[] {
  const ended = events.map(({ event }) => event).filter(({ type }) => type.startsWith('ledger.group.'))
  return [...ended.toReversed(), ...before].slice(0, MOST_ARRIVED)
}

/** The rows that were read, newest first, behind those that arrived since. */
export function withNewest(paged: PagedRows<Event>, arrived: readonly Event[]): PagedRows<Event> {
  if (paged.loaded.state !== 'done') return paged
  const { value } = paged.loaded
  const known = new Set(value.rows.map(({ id }) => id))
  const rows = [...arrived.filter(({ id }) => !known.has(id)), ...value.rows.toReversed()]
  return { ...paged, loaded: { state: 'done', value: { ...value, rows } } }
}
