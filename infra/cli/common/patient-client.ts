/**
 * An HTTP client that retries while the ledger is unavailable. For requests that are safe to repeat.
 *   P1. It does not retry before the first response: the address may be wrong, and an immediate error is more useful.
 *   P2. Before the first retry it prints why it waits, and until when.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { CommandIo } from './command.ts'
import { type HttpClient, type HttpReply, LedgerNotReady, LedgerUnreachable } from './http-client.ts'

export interface Patience {
  /** Longest time for one request, all retries included. */
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
  let hasReplied = false

  /** Returns the reply, or the error if a retry may help. Throws any other error. */
  const attempt = async (...args: Parameters<HttpClient['request']>): Promise<HttpReply | LedgerUnreachable> => {
    try {
      const reply = await client.request(...args)
      hasReplied = true
      return reply
    } catch (error) {
      if (error instanceof LedgerNotReady || (error instanceof LedgerUnreachable && hasReplied)) return error
      throw error
    }
  }

  const request: HttpClient['request'] = async (...args) => {
    const untilMs = performance.now() + longestMs
    for (let waiting = false; ; waiting = true) {
      const got = await attempt(...args)
      const isUnreachable = got instanceof LedgerUnreachable
      if (!isUnreachable && got.status !== UNAVAILABLE) return got
      if (performance.now() >= untilMs) {
        if (isUnreachable) throw got
        return got
      }
      if (!waiting) {
        const why = isUnreachable ? got.message : 'the ledger is not ready (503)'
        io.err(`${why}; trying again until ${clockTime(Date.now() + longestMs)} (Ctrl-C ends it)\n`)
      }
      const retryAfterMs = isUnreachable ? 0 : (got.retryAfterS ?? 0) * 1_000
      await pause(Math.max(retryAfterMs, pauseMs))
    }
  }

  return { ...client, request }
}

/** HH:MM in the machine's time zone. */
function clockTime(atMs: number): string {
  return new Date(atMs).toTimeString().slice(0, 5)
}
