/**
 * Allows browser pages of listed origins to use the API (Fetch Standard, CORS protocol), and every page to read the log.
 * Tokens are never cookies.
 */
import type { Context } from 'hono'

/** `any`: every origin. */
export type AllowedOrigins = readonly string[] | 'any'

export interface Cors {
  /** Of every response. */
  readonly headersOf: (http: Context) => Readonly<Record<string, string>>
  /** Of the response to an OPTIONS request for a resource with these methods. */
  readonly preflightHeaders: (http: Context, methods: readonly string[]) => Readonly<Record<string, string>>
}

const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'Accept',
  'If-None-Match',
  'Idempotency-Key',
  'Prefer',
  'X-Request-Id',
  'traceparent',
  'tracestate',
].join(', ')
const RESPONSE_HEADERS = [
  'Location',
  'ETag',
  'Retry-After',
  'RateLimit-Policy',
  'RateLimit',
  'WWW-Authenticate',
  'Idempotency-Replayed',
  'Idempotency-Payload-Mismatch',
  'Preference-Applied',
  'X-Request-Id',
  'X-Total-Count-Relation',
].join(', ')
/** Seconds: the longest time that browsers cache it. */
const MAX_AGE = '7200'

const PUBLIC_PATHS = '/log/'

export function createCors(origins: AllowedOrigins): Cors {
  const isForAll = (http: Context): boolean => origins === 'any' || http.req.path.startsWith(PUBLIC_PATHS)
  const allowed = (http: Context): string | undefined => {
    // Also without an origin: a cache may give the response to a page.
    if (isForAll(http)) return '*'
    const origin = http.req.header('origin')
    return origin !== undefined && origins.includes(origin) ? origin : undefined
  }
  // The response depends on the origin also if the request names none.
  const varyOf = (http: Context): Readonly<Record<string, string>> =>
    isForAll(http) || origins.length === 0 ? {} : { vary: 'origin' }
  return {
    headersOf: (http) => {
      const origin = allowed(http)
      if (origin === undefined) return varyOf(http)
      return {
        ...varyOf(http),
        'access-control-allow-origin': origin,
        'access-control-expose-headers': RESPONSE_HEADERS,
      }
    },
    preflightHeaders: (http, methods) => {
      if (allowed(http) === undefined || http.req.header('access-control-request-method') === undefined) return {}
      return {
        'access-control-allow-methods': methods.join(', '),
        'access-control-allow-headers': REQUEST_HEADERS,
        'access-control-max-age': MAX_AGE,
      }
    },
  }
}
