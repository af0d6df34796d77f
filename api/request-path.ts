/**
 * The path by which a request is routed.
 *   P1. A segment `.` or `..`, escaped or not, is a value like any other (D1). The platform's URL takes it for a step and
 *       removes it: another resource than the one that was named would answer.
 */
import { getPath } from 'hono/utils/url'

/** What the Node server tells of the request, as far as it is needed here. */
interface NodeBindings {
  readonly incoming?: { readonly url?: string }
}

const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:[/?#]|$)/i

/** Where there is no server, as in a test, the steps were taken before anybody could look. */
export function requestPath(request: Request, options?: { readonly env?: unknown }): string {
  const target = (options?.env as NodeBindings | undefined)?.incoming?.url
  if (target === undefined || !hasDotSegment(target)) return getPath(request)
  const url = target.startsWith('/') ? `http://host${target}` : target
  // It reads nothing of a request but its URL.
  return getPath({ url } as Request)
}

/** Nearly all have none: the cheap look comes first. */
function hasDotSegment(target: string): boolean {
  return (target.includes('/.') || target.includes('/%2')) && DOT_SEGMENT.test(target)
}
