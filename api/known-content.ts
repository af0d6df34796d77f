/** Content that changes with a release and no sooner: kept by clients, and not sent again to those that have it (RFC 9110). */
import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import { type Reply, textReply } from './reply.ts'

/** How long a client may use it without asking. */
const CACHE_CONTROL = 'public, max-age=300'
const TAG_LENGTH = 22

/** What answers requests for it: 304 to a client that says that it has it. */
export function createKnownContent(
  contentType: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): (http: Context) => Reply {
  const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, TAG_LENGTH)}"`
  const all = { ...headers, etag: tag, 'cache-control': CACHE_CONTROL }
  return (http) =>
    isKnown(http.req.header('if-none-match'), tag)
      ? textReply(304, contentType, '', all)
      : textReply(200, contentType, body, all)
}

/** Weak comparison: a cache on the way may have marked the tag as weak. */
function isKnown(condition: string | undefined, tag: string): boolean {
  if (condition === undefined) return false
  return condition.split(',').some((one) => [tag, `W/${tag}`, '*'].includes(one.trim()))
}
