/**
 * The path of a request: for routing, and as sent.
 *   P1. A segment `.` or `..`, escaped or not, is a value like any other (D1). The platform's URL takes it for a step and
 *       removes it: another resource than the one that was named would answer.
 */
import type { Context } from 'hono'
import { getPath } from 'hono/utils/url'

/** The part of Node's request that is used here. */
interface NodeBindings {
  readonly incoming?: { readonly url?: string }
}

/** Scheme and authority of a target in absolute form (RFC 9112, 3.2.2). */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i
/** Characters that a path must percent-encode (RFC 3986, 3.3). */
const NOT_IN_A_PATH = /%(?![0-9a-f]{2})|[^A-Za-z0-9\-._~!$&'()*+,;=:@/%]/gi

const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:[/?#]|$)/i

/** Without a server, as in a test, the URL is already normalized. */
export function requestPath(request: Request, options?: { readonly env?: unknown }): string {
  const target = (options?.env as NodeBindings | undefined)?.incoming?.url
  if (target === undefined || !hasDotSegment(target)) return getPath(request)
  const url = target.startsWith('/') ? `http://host${target}` : target
  // It reads nothing of a request but its URL.
  return getPath({ url } as Request)
}

/** Whether the path is under /v1, which requires a token. */
export function isVersioned(path: string): boolean {
  return path.startsWith('/v1/') || path === '/v1'
}

/** Nearly all have none: the cheap look comes first. */
function hasDotSegment(target: string): boolean {
  return (target.includes('/.') || target.includes('/%2')) && DOT_SEGMENT.test(target)
}

/** As the client sent it, percent-encoded. */
export function sentPath({ env, req }: Pick<Context, 'env' | 'req'>): string {
  return pathOfTarget((env as NodeBindings | undefined)?.incoming?.url ?? req.url)
}

/** The path of a request target; Node decodes its bytes as Latin-1. `/` if the target has none. */
export function pathOfTarget(target: string): string {
  const [path = ''] = target.replace(ORIGIN, '').split(/[?#]/, 1)
  if (!path.startsWith('/')) return '/'
  return path.replaceAll(NOT_IN_A_PATH, (one) => `%${Buffer.from(one, 'latin1').toString('hex').toUpperCase()}`)
}
