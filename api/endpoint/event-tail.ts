/**
 * The end of the event log, read once for all listeners of an edge (D23).
 *   T1. The tail reads the log every POLL_MS, and only while it has a listener.
 *   T2. The latest events stay in memory, up to RECENT_EVENTS. A listener that is further behind reads the log itself.
 *   T3. If the log cannot be read, all listeners are woken: each then meets the failure itself.
 *   T5. A listener is woken only for an event that it selects. Those that select an account are found by it, so that many
 *       listeners to other accounts cost an event nothing.
 *   T4. The erasure of an account empties the memory, which could hold the account's content. So does the end of the last
 *       listener: what happens until the next one is not followed.
 */
import { repeat, type Clock } from '../../runtime/ports/clock.ts'
import type { EventPage, EventPosition, LedgerEvent, LedgerEvents } from '../../runtime/ports/ledger-events.ts'
import type { EventMetrics } from '../../runtime/ports/metrics.ts'
import type { StreamBounds } from '../http/stream-places.ts'
import type { EventSelection } from './event-filter.ts'

export const EVENT_LISTENERS: StreamBounds = { total: 1_000, ofOneClient: 100 }

const POLL_MS = 50
const READ_EVENTS = 500
const RECENT_EVENTS = 5_000

export interface EventTail {
  /** Begins to follow the log. The returned function ends it, once. */
  readonly listen: () => () => void
  /** The events after the position, from memory where possible. Only while listening. */
  readonly read: (after: EventPosition | null, limit: number) => Promise<EventPage>
  /**
   * Resolves once the log may have a selected event after the position, or after `ms`. Between `after` and the returned
   * position there is none. Only while listening.
   */
  readonly changed: (after: EventPosition, ms: number, selection: EventSelection) => Promise<EventPosition>
}

/** The events between two positions, oldest first. */
interface Recent {
  readonly from: EventPosition
  readonly to: EventPosition
  readonly events: readonly LedgerEvent[]
}

export function createEventTail({
  events: log,
  clock,
  eventMetrics: metrics,
}: {
  readonly events: LedgerEvents
  readonly clock: Clock
  readonly eventMetrics?: EventMetrics | undefined
}): EventTail {
  let listeners = 0
  let recent: Recent | undefined
  let following: ReturnType<typeof repeat> | undefined
  const waiting = createWaiting()

  async function follow(): Promise<void> {
    const own = following
    try {
      const before = recent
      const from = before?.to ?? (await log.end())
      const page = await log.read(from, READ_EVENTS)
      if (following !== own) return
      recent = extended(before ?? { from, to: from, events: [] }, page)
      for (const { timeMs } of page.events) if (timeMs !== null) metrics?.seen(clock.now() - timeMs)
      // A listener may wait behind an event that precedes the memory.
      if (before === undefined) waiting.wakeAll(null)
      else waiting.wakeFor(page.events, before.to)
    } catch {
      if (following !== own) return
      const reached = recent?.to ?? null
      recent = undefined
      waiting.wakeAll(reached)
    }
  }

  return {
    listen() {
      listeners += 1
      metrics?.listeners(listeners)
      following ??= repeat(clock, POLL_MS, follow)
      let isListening = true
      return () => {
        if (!isListening) return
        isListening = false
        listeners -= 1
        metrics?.listeners(listeners)
        if (listeners > 0) return
        following?.stop()
        following = undefined
        recent = undefined
      }
    },
    read: async (after, limit) =>
      (after === null || recent === undefined ? undefined : pageOf(log, recent, after, limit)) ??
      log.read(after, limit),
    async changed(after, ms, selection) {
      if (recent !== undefined && (log.isAfter(recent.from, after) || isBehind(log, after, recent.events.at(-1))))
        return after
      const reached = await new Promise<EventPosition | null>((resolve) => {
        const timer = clock.after(ms, () => resume(recent?.to ?? null))
        const resume = (position: EventPosition | null): void => {
          timer.cancel()
          waiting.remove(waiter)
          resolve(position)
        }
        const waiter = { selection, resume }
        waiting.add(waiter)
      })
      return reached !== null && log.isAfter(reached, after) ? reached : after
    },
  }
}

interface Waiter {
  readonly selection: EventSelection
  /** `reached`: no event up to this position is selected; null: unknown. */
  readonly resume: (reached: EventPosition | null) => void
}

/** T5. */
function createWaiting() {
  const ofAny = new Set<Waiter>()
  const ofAccount = new Map<string, Set<Waiter>>()
  return {
    add(waiter: Waiter): void {
      if (waiter.selection.accountIds === null) ofAny.add(waiter)
      for (const accountId of waiter.selection.accountIds ?? []) {
        const waiters = ofAccount.get(accountId)
        if (waiters === undefined) ofAccount.set(accountId, new Set([waiter]))
        else waiters.add(waiter)
      }
    },
    remove(waiter: Waiter): void {
      ofAny.delete(waiter)
      for (const accountId of waiter.selection.accountIds ?? []) {
        const waiters = ofAccount.get(accountId)
        waiters?.delete(waiter)
        if (waiters?.size === 0) ofAccount.delete(accountId)
      }
    },
    /** New events; `reached`: the position before them. */
    wakeFor(events: readonly LedgerEvent[], reached: EventPosition): void {
      for (const event of events) {
        const waiters = [...ofAny, ...event.accountIds.flatMap((accountId) => [...(ofAccount.get(accountId) ?? [])])]
        for (const { selection, resume } of waiters) if (selection.selects(event)) resume(reached)
      }
    },
    wakeAll(reached: EventPosition | null): void {
      for (const { resume } of [...ofAny, ...[...ofAccount.values()].flatMap((waiters) => [...waiters])])
        resume(reached)
    },
  }
}

/** undefined: the position is too far behind. */
function pageOf(log: LedgerEvents, recent: Recent, after: EventPosition, limit: number): EventPage | undefined {
  const { from, to, events: kept } = recent
  if (log.isAfter(from, after)) return undefined
  // Most listeners are near the end.
  let start = kept.length
  while (start > 0 && isBehind(log, after, kept[start - 1])) start -= 1
  const ahead = kept.slice(start)
  const events = ahead.slice(0, limit)
  const last = events.at(-1)
  if (ahead.length > events.length && last !== undefined) return { events, next: last.position, atEnd: false }
  return { events, next: log.isAfter(after, to) ? after : to, atEnd: true }
}

function isBehind(log: LedgerEvents, after: EventPosition, event: LedgerEvent | undefined): boolean {
  return event !== undefined && log.isAfter(event.position, after)
}

/** T2, T4. */
function extended({ from, to, events }: Recent, page: EventPage): Recent {
  if (page.events.some(({ name }) => name === 'account.erased')) return { from: to, to: page.next, events: page.events }
  const all = [...events, ...page.events]
  const dropped = all.length - RECENT_EVENTS
  const last = all[dropped - 1]
  return last === undefined
    ? { from, to: page.next, events: all }
    : { from: last.position, to: page.next, events: all.slice(dropped) }
}
