/**
 * The rate limit of a request's client, as the API shows it: 429, `Retry-After`, and the headers of
 * draft-ietf-httpapi-ratelimit-headers-10.
 */
import type { Rate } from '../../actors/rate.ts'
import type { ClientLimit } from '../../runtime/edge/client-limits.ts'
import { type Problem, problem } from '../http/problem.ts'
import type { EndpointOutcome } from './route.ts'

const MS_PER_SECOND = 1_000

/** The 429 to a client without a token left. */
export function clientLimited(limit: ClientLimit): Problem {
  const { perSecond, burst } = limit.rate
  const detail = `The client may send ${perSecond} requests a second, ${burst} at once; each order of a batch counts as one.`
  return limited(detail, limit.level().nextMs)
}

export function limited(detail: string, retryAfterMs: number): Problem {
  return {
    ...problem('rate-limited', 'ERR_RATE_LIMITED', detail),
    headers: { 'retry-after': String(seconds(retryAfterMs)) },
  }
}

/** Adds the headers that describe the client's limit, beside those of another limit. */
export function withLimitHeaders<Outcome extends EndpointOutcome>(outcome: Outcome, limit: ClientLimit): Outcome {
  const { tokens, fullMs } = limit.level()
  const { headers } = outcome
  const own = limitHeaders('client', limit.rate, tokens, fullMs)
  const joined = Object.entries(own).map(([name, value]) => {
    const other = headers[name]
    return [name, other === undefined ? value : `${value}, ${other}`] as const
  })
  return { ...outcome, headers: { ...headers, ...Object.fromEntries(joined) } }
}

/** `fullMs`: until all tokens are there again. */
export function limitHeaders(
  policy: 'client' | 'account',
  { perSecond, burst }: Rate,
  tokens: number,
  fullMs: number,
): Readonly<Record<'ratelimit' | 'ratelimit-policy', string>> {
  return {
    'ratelimit-policy': `"${policy}";q=${burst};w=${Math.max(1, Math.round(burst / perSecond))}`,
    ratelimit: `"${policy}";r=${tokens};t=${seconds(fullMs)}`,
  }
}

/** Whole seconds, rounded up: a client that waits as long finds a token. */
function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / MS_PER_SECOND))
}
