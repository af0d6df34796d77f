import type { ArrivedEvent } from '../../session/event-feed.ts'
import { transactionIn } from '../../parts/event-transaction.ts'

/** Final orders by the second of their arrival. */
export type OrderCounts = ReadonlyMap<number, number>

export const WINDOW_S = 60

/** Counts orders of clients; what the ledger does itself, such as the credit side of a transfer, is none. */
export function countOrders(counts: OrderCounts, events: readonly ArrivedEvent[], nowMs: number): OrderCounts {
  const oldest = secondOf(nowMs) - WINDOW_S
  const next = new Map([...counts].filter(([second]) => second >= oldest))
  for (const { event, arrivedAtMs } of events) {
    if (transactionIn(event)?.origin !== 'client') continue
    const second = secondOf(arrivedAtMs)
    next.set(second, (next.get(second) ?? 0) + 1)
  }
  return next
}

/** Of the last whole seconds, oldest first. */
export function lastSeconds(counts: OrderCounts, nowMs: number, length = WINDOW_S): readonly number[] {
  const end = secondOf(nowMs)
  return Array.from({ length }, (_, index) => counts.get(end - length + index) ?? 0)
}

/** Orders a second, over whole seconds. */
export function meanRate(seconds: readonly number[]): number {
  return seconds.length === 0 ? 0 : seconds.reduce((sum, count) => sum + count, 0) / seconds.length
}

function secondOf(timeMs: number): number {
  return Math.floor(timeMs / 1_000)
}
