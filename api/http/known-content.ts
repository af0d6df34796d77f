/** Content that changes only with a release: built and compressed once, and cached by clients. */
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { Context } from 'hono'
import type { StaticReply } from './reply.ts'
import {
  acceptedEncoding,
  BROTLI_QUALITY,
  digestOf,
  type Encoding,
  isKnown,
  representationHeaders,
  tagOf,
} from './representations.ts'

/** How long a client may use it without asking, unless its headers say otherwise. */
const CACHE_CONTROL = 'public, max-age=300'
const BODILESS = new Uint8Array(0)

/** Replies to a request for the content: 304 to a client that has it. */
export type KnownContent = (http: Context) => StaticReply

export function createKnownContent(
  contentType: string,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): KnownContent {
  const identity = Buffer.from(text)
  const digest = digestOf(identity)
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY }
  const bodies: Readonly<Record<Encoding, Uint8Array>> = {
    br: brotliCompressSync(identity, { params }),
    gzip: gzipSync(identity),
    identity,
  }
  return (http) => {
    const encoding = acceptedEncoding(http)
    const tag = tagOf(digest, encoding)
    const all = { 'cache-control': CACHE_CONTROL, ...headers, ...representationHeaders(tag, encoding) }
    return isKnown(http, tag)
      ? { kind: 'static', status: 304, contentType, body: BODILESS, headers: all }
      : { kind: 'static', status: 200, contentType, body: bodies[encoding], headers: all }
  }
}
