/**
 * Requests come at a constant rate, as from many clients that know nothing of each other. The time of each begins when
 * it was to be sent: one that found no connection free, or a generator that was late, is slower and not left out.
 */
import type { Stock } from './stock.ts'
import type { RawConnection } from './raw-connection.ts'
import { type Latency, latencyOf } from './statistics.ts'
import type { Tally } from './tally.ts'

const TICK_MS = 1

export interface Arrivals {
  readonly seconds: number
  readonly perSecond: number
  /** Nothing comes any more once it is asked for. */
  readonly ending: { readonly asked: boolean }
}

/** Resolves with the last reply, to how late requests were sent. */
export function openLoop(
  connections: readonly RawConnection[],
  stock: Stock,
  { seconds, perSecond, ending }: Arrivals,
  tally: Tally,
): Promise<Latency> {
  return new Promise((resolve, reject) => {
    const count = Math.min(Math.floor(seconds * perSecond), stock.requests.length - stock.next)
    const latenessMs = new Float64Array(count)
    const idle = [...connections]
    const startMs = performance.now()
    let sent = 0
    let busy = 0
    const allSent = (): boolean => sent === count || ending.asked
    const dueMs = (): number => startMs + (sent * 1000) / perSecond
    /** False when none is due, or there is none to send it on. */
    const sendDue = (): boolean => {
      const sinceMs = dueMs()
      const request = stock.requests[stock.next]
      const nowMs = performance.now()
      if (allSent() || sinceMs > nowMs || request === undefined) return false
      // By turns: one that was left unused for long would be closed by the ledger.
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
      if (!allSent()) setTimeout(tick, TICK_MS)
    }
    tick()
  })
}
