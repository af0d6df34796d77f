/**
 * Requests arrive at random at a constant mean rate, as from many independent clients (a Poisson process).
 *   L1. An arrival does not depend on any reply.
 *   L2. The latency of each counts from its arrival, also if no connection was free or the generator sent it late.
 */
import type { Stock } from './stock.ts'
import type { RawConnection } from './raw-connection.ts'
import { type Latency, latencyOf } from '../report/statistics.ts'
import type { Tally } from './tally.ts'

const LEAST_PAUSE_MS = 1
/** Delay until a request to end is noticed. */
const LONGEST_PAUSE_MS = 50

export interface Arrivals {
  /** From the start, milliseconds, in order. */
  readonly atMs: Float64Array
  /** No more arrivals once it returns true. */
  readonly ending: { readonly asked: boolean }
}

/** Given their number, arrivals of a Poisson process are independent and uniform over the time. */
export function randomArrivals(seconds: number, perSecond: number): Float64Array {
  return Float64Array.from({ length: Math.floor(seconds * perSecond) }, () => Math.random() * seconds * 1000).sort()
}

/** Resolves with the last reply, to the delays of the requests. */
export function openLoop(
  connections: readonly RawConnection[],
  stock: Stock,
  { atMs, ending }: Arrivals,
  tally: Tally,
): Promise<Latency> {
  return new Promise((resolve, reject) => {
    const count = Math.min(atMs.length, stock.requests.length - stock.next)
    const latenessMs = new Float64Array(count)
    const idle = [...connections]
    const startMs = performance.now()
    let sent = 0
    let busy = 0
    const allSent = (): boolean => sent === count || ending.asked
    const dueMs = (): number => startMs + (atMs[sent] ?? Infinity)
    /** False if none is due, or no connection is free. */
    const sendDue = (): boolean => {
      const sinceMs = dueMs()
      const request = stock.requests[stock.next]
      const nowMs = performance.now()
      if (allSent() || sinceMs > nowMs || request === undefined) return false
      // By turns: the ledger closes idle connections.
      const connection = idle.shift()
      if (connection === undefined) return false
      latenessMs[sent] = nowMs - sinceMs
      sent += 1
      stock.next += 1
      busy += 1
      connection.send(
        request,
        (status, body) => {
          busy -= 1
          tally.take(status, body, sinceMs)
          idle.push(connection)
          goOn()
        },
        reject,
      )
      return true
    }
    const goOn = (): void => {
      let going = true
      while (going) going = sendDue()
      if (allSent() && busy === 0) resolve(latencyOf(latenessMs.subarray(0, sent)))
    }
    const tick = (): void => {
      goOn()
      if (allSent()) return
      // A reply frees its connection for a waiting request.
      const untilDueMs = dueMs() - performance.now()
      setTimeout(tick, Math.min(LONGEST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, untilDueMs)))
    }
    tick()
  })
}
