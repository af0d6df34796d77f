/**
 * A client that waits for a ledger that is away, for requests that may be made again.
 *   P1. Where nobody has answered yet it does not wait: the address may be wrong, and a sentence at once says more.
 *   P2. While it waits it says so, and until when.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { CommandIo } from './command.ts'
import { type HttpAnswer, type HttpClient, LedgerNotReady, LedgerUnreachable } from './http-client.ts'

export interface Patience {
  /** For one request, and between two tries of it. */
  readonly longestMs: number
  readonly pauseMs: number
}

const UNAVAILABLE = 503
const DEFAULTS: Patience = { longestMs: 300_000, pauseMs: 2_500 }

export function createPatientClient(
  client: HttpClient,
  io: CommandIo,
  { longestMs, pauseMs }: Patience = DEFAULTS,
): HttpClient {
  let answered = false

  /** The answer, or why there is none yet. Throws what waiting does not mend. */
  const attempt = async (...request: Parameters<HttpClient['ask']>): Promise<HttpAnswer | LedgerUnreachable> => {
    try {
      const answer = await client.ask(...request)
      answered = true
      return answer
    } catch (error) {
      if (error instanceof LedgerNotReady || (error instanceof LedgerUnreachable && answered)) return error
      throw error
    }
  }

  const ask: HttpClient['ask'] = async (...request) => {
    const untilMs = performance.now() + longestMs
    for (let waiting = false; ; waiting = true) {
      const got = await attempt(...request)
      const isAway = got instanceof LedgerUnreachable
      if (!isAway && got.status !== UNAVAILABLE) return got
      if (performance.now() >= untilMs) {
        if (isAway) throw got
        return got
      }
      if (!waiting) {
        const why = isAway ? got.message : 'the ledger is not ready (503)'
        io.err(`${why}; trying again until ${clockTime(Date.now() + longestMs)} (Ctrl-C ends it)\n`)
      }
      const retryAfterMs = isAway ? 0 : (got.retryAfterS ?? 0) * 1_000
      await pause(Math.max(retryAfterMs, pauseMs))
    }
  }

  return { ...client, ask }
}

/** Of the machine's time zone: HH:MM. */
function clockTime(atMs: number): string {
  return new Date(atMs).toTimeString().slice(0, 5)
}
