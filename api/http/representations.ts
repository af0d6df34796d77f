/**
 * Representations of content that exists before the request: the encoding that the client accepts, its entity tag, and 304
 * for a client that has it (RFC 9110, 8.8.3, 12.5.3 and 13.1.2).
 */
import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import { weightsIn } from './accept.ts'

/** Best first. */
const ENCODINGS = ['br', 'gzip', 'identity'] as const
const TAG_LENGTH = 22
/** A longer header is ignored. */
const MAX_ACCEPT_ENCODING = 256
/** Compressing 500 KB with Brotli takes 30 ms at this level, and 180 ms at the highest. */
export const BROTLI_QUALITY = 7

export type Encoding = (typeof ENCODINGS)[number]

export function acceptedEncoding({ req }: Context): Encoding {
  const accepted = req.header('accept-encoding') ?? ''
  const weights = weightsIn(accepted.length > MAX_ACCEPT_ENCODING ? '' : accepted, 1)
  return ENCODINGS.find((encoding) => (weights.get(encoding) ?? 0) > 0) ?? 'identity'
}

/** 22 characters of base64url. */
export function digestOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, TAG_LENGTH)
}

/** `digest`: of the content without encoding. */
export function tagOf(digest: string, encoding: Encoding): string {
  const suffix = { br: '-br', gzip: '-gz', identity: '' }[encoding]
  return `"${digest}${suffix}"`
}

/** The headers that name the representation. */
export function representationHeaders(tag: string, encoding: Encoding): Readonly<Record<string, string>> {
  return { vary: 'accept-encoding', etag: tag, ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }) }
}

/** Whether the client has the representation. Weak comparison: a cache on the way may have marked the tag as weak. */
export function isKnown({ req }: Context, tag: string): boolean {
  const condition = req.header('if-none-match')
  if (condition === undefined) return false
  return condition.split(',').some((one) => [tag, `W/${tag}`, '*'].includes(one.trim()))
}
