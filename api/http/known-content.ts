/**
 * Content that changes only with a release: built and compressed once, cached by clients, and 304 for a client that has
 * it (RFC 9110, 8.8.3 and 12.5.3).
 */
import { createHash } from 'node:crypto'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { Context } from 'hono'
import { weightsIn } from './accept.ts'
import type { StaticReply } from './reply.ts'

/** How long a client may use it without asking. */
const CACHE_CONTROL = 'public, max-age=300'
const TAG_LENGTH = 22
/** Both compressions of some 500 KB take 50 ms at this level, and 200 ms at the highest. */
const BROTLI_QUALITY = 7
/** A longer header is ignored. */
const MAX_ACCEPT_ENCODING = 256
const BODILESS = new Uint8Array(0)

interface Representation {
  readonly encoding: 'br' | 'gzip' | 'identity'
  readonly tag: string
  readonly body: Uint8Array
}

/** Replies to a request for the content: 304 to a client that has it. */
export type KnownContent = (http: Context) => StaticReply

export function createKnownContent(
  contentType: string,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): KnownContent {
  const identity = Buffer.from(text)
  const digest = createHash('sha256').update(identity).digest('base64url').slice(0, TAG_LENGTH)
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY }
  // Best first.
  const representations: readonly Representation[] = [
    { encoding: 'br', tag: `"${digest}-br"`, body: brotliCompressSync(identity, { params }) },
    { encoding: 'gzip', tag: `"${digest}-gz"`, body: gzipSync(identity) },
    { encoding: 'identity', tag: `"${digest}"`, body: identity },
  ]
  const shared = { ...headers, 'cache-control': CACHE_CONTROL, vary: 'accept-encoding' }
  return (http) => {
    const { encoding, tag, body } = chosenOf(representations, http.req.header('accept-encoding') ?? '')
    const all = { ...shared, etag: tag, ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }) }
    return isKnown(http.req.header('if-none-match'), tag)
      ? { kind: 'static', status: 304, contentType, body: BODILESS, headers: all }
      : { kind: 'static', status: 200, contentType, body, headers: all }
  }
}

function chosenOf(representations: readonly Representation[], accepted: string): Representation {
  const weights = weightsIn(accepted.length > MAX_ACCEPT_ENCODING ? '' : accepted, 1)
  const chosen = representations.find(({ encoding }) => encoding === 'identity' || (weights.get(encoding) ?? 0) > 0)
  if (chosen === undefined) throw new Error('the identity encoding is always available')
  return chosen
}

/** Weak comparison: a cache on the way may have marked the tag as weak. */
function isKnown(condition: string | undefined, tag: string): boolean {
  if (condition === undefined) return false
  return condition.split(',').some((one) => [tag, `W/${tag}`, '*'].includes(one.trim()))
}
