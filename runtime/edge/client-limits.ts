/**
 * Rate limits of clients at an edge.
 *   L1. A client has one bucket over all edges: each edge takes off its own what the others let through, told
 *       TELL_MS after it happened. Before that a client may use its burst at every edge; over a longer time, with all
 *       edges together, it gets no more than its rate.
 *   L2. Without limits there is no message and no timer.
 *   L3. Buckets are kept of clients with an accepted token only, at most MAX_CLIENTS.
 *   L4. A refusal leaves REFUSAL_DELAY_MS later, so that a client that repeats its requests at once costs others little;
 *       while MAX_LATE refusals wait, further ones leave at once.
 */
import type { OwnRate, Rate } from '../../actors/rate.ts'
import { createBoundedCache } from '../common/bounded-cache.ts'
import { createTokenBuckets, type Level } from '../common/token-buckets.ts'
import { type Clock, delay } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { LimitMetrics } from '../ports/metrics.ts'
import type { UsageExchange } from '../ports/usage-exchange.ts'

export interface ClientLimits {
  /** undefined: the client has no limit. */
  readonly of: (clientId: string, own: OwnRate) => ClientLimit | undefined
}

export interface ClientLimit {
  readonly rate: Rate
  /** Lets up to `wanted` requests through, and returns how many. */
  readonly take: (wanted: number) => number
  readonly level: () => Level
  /** Resolves when the refusal of a request may leave (L4). */
  readonly refusal: () => Promise<void>
}

export interface ClientLimitsDependencies {
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
  readonly log: Log
  readonly exchange: UsageExchange
  /** Of clients without a rate of their own; null: no limit. */
  readonly defaultRate: Rate | null
  readonly metrics?: LimitMetrics | undefined
}

const TELL_MS = 200
const MAX_CLIENTS = 100_000
/** `Retry-After` is at least ten times as long. */
const REFUSAL_DELAY_MS = 100
const MAX_LATE = 1_000
const LOG_INTERVAL_MS = 60_000
/** Clients whose refusals are logged apart. */
const MAX_LOGGED = 1_000

export function createClientLimits(dependencies: ClientLimitsDependencies): ClientLimits {
  const { clock, exchange, defaultRate } = dependencies
  const buckets = createTokenBuckets(MAX_CLIENTS)
  const noteRefused = createRefusedLog(dependencies)
  const refusal = createLateRefusals(clock)
  let untold = new Map<string, { readonly rate: Rate; requests: number }>()

  exchange.onTold((usages) => {
    const nowMs = clock.monotonic()
    for (const { clientId, rate, requests } of usages) buckets.charge(clientId, rate, requests, nowMs)
  })

  function tell(): void {
    const usages = [...untold].map(([clientId, { rate, requests }]) => ({ clientId, rate, requests }))
    untold = new Map()
    exchange.tell(usages)
  }

  function note(clientId: string, rate: Rate, requests: number): void {
    if (untold.size === 0) clock.after(TELL_MS, tell)
    const before = untold.get(clientId)
    untold.set(clientId, { rate, requests: (before?.requests ?? 0) + requests })
  }

  return {
    of: (clientId, own) => {
      const rate = own === 'none' ? null : (own ?? defaultRate)
      if (rate === null) return undefined
      return {
        rate,
        take: (wanted) => {
          const taken = buckets.take(clientId, rate, wanted, clock.monotonic())
          if (taken > 0) note(clientId, rate, taken)
          if (taken < wanted) noteRefused(clientId, wanted - taken)
          return taken
        },
        level: () => buckets.level(clientId, rate, clock.monotonic()),
        refusal,
      }
    },
  }
}

function createLateRefusals(clock: Pick<Clock, 'after'>): ClientLimit['refusal'] {
  let late = 0
  return async () => {
    if (late >= MAX_LATE) return
    late += 1
    await delay(clock, REFUSAL_DELAY_MS)
    late -= 1
  }
}

/** One line a client and minute, with the refused requests since the one before. */
function createRefusedLog({ clock, log, metrics }: ClientLimitsDependencies) {
  const refused = createBoundedCache<string, { readonly loggedAtMs: number; requests: number }>(MAX_LOGGED)
  return (clientId: string, requests: number): void => {
    metrics?.limited('client_rate', requests)
    const nowMs = clock.monotonic()
    const known = refused.get(clientId)
    if (known !== undefined && nowMs - known.loggedAtMs < LOG_INTERVAL_MS) {
      known.requests += requests
      return
    }
    log.warn('client_rate_limited', { client_id: clientId, requests: (known?.requests ?? 0) + requests })
    refused.set(clientId, { loggedAtMs: nowMs, requests: 0 })
  }
}
