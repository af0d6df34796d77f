/**
 * Page tokens (D16): where a list goes on, opaque and tamper-evident.
 *   K1. A token is good for one scope only: path, filters, order and client. The scope is not in it; the MAC covers it.
 *   K2. Every character counts: a token that decodes to the right bytes and is spelled otherwise is refused.
 *   K3. At most 512 characters.
 * base64url(version 1 | relation 1 | total 6 | cursor | HMAC-SHA-256 truncated to 16), numbers in bytes, big-endian.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { invariant } from '../actors/result.ts'

export const MAX_PAGE_TOKEN_LENGTH = 512

const VERSION = 1
const HEADER_BYTES = 8
const MAC_BYTES = 16
/** Why this MAC can be mistaken for nothing else that the same key might ever sign. */
const PURPOSE = 'ledger page token'

export interface PageCount {
  readonly total: number
  /** False: a lower bound. */
  readonly exact: boolean
}

export interface PagePosition {
  readonly cursor: string
  /** Counted on the first page and carried along; null in lists without a count. */
  readonly count: PageCount | null
}

export interface PageTokens {
  readonly write: (scope: string, position: PagePosition) => string
  /** Undefined: damaged, or of another scope. */
  readonly read: (scope: string, token: string) => PagePosition | undefined
}

const RELATION_NONE = 0
const RELATION_EXACT = 1
const RELATION_LOWER_BOUND = 2

/** `key`: 32 bytes. */
export function createPageTokens(key: Uint8Array): PageTokens {
  const macOf = (scope: string, content: Uint8Array): Buffer =>
    createHmac('sha256', key)
      .update(`${PURPOSE}\0${Buffer.byteLength(scope)}\0${scope}\0`)
      .update(content)
      .digest()
      .subarray(0, MAC_BYTES)

  return {
    write(scope, position) {
      const content = encode(position)
      const token = Buffer.concat([content, macOf(scope, content)]).toString('base64url')
      invariant(token.length <= MAX_PAGE_TOKEN_LENGTH, 'a page token is longer than a page token may be')
      return token
    },
    read(scope, token) {
      if (token.length > MAX_PAGE_TOKEN_LENGTH) return undefined
      const bytes = Buffer.from(token, 'base64url')
      if (bytes.length < HEADER_BYTES + MAC_BYTES || bytes.toString('base64url') !== token) return undefined
      const content = bytes.subarray(0, bytes.length - MAC_BYTES)
      if (!timingSafeEqual(macOf(scope, content), bytes.subarray(content.length))) return undefined
      return decode(content)
    },
  }
}

function encode({ cursor, count }: PagePosition): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt8(VERSION, 0)
  header.writeUInt8(relationOf(count), 1)
  header.writeUIntBE(count?.total ?? 0, 2, 6)
  return Buffer.concat([header, Buffer.from(cursor, 'utf8')])
}

function relationOf(count: PageCount | null): number {
  if (count === null) return RELATION_NONE
  return count.exact ? RELATION_EXACT : RELATION_LOWER_BOUND
}

function decode(content: Buffer): PagePosition | undefined {
  if (content.readUInt8(0) !== VERSION) return undefined
  const relation = content.readUInt8(1)
  return {
    cursor: content.toString('utf8', HEADER_BYTES),
    count: relation === RELATION_NONE ? null : { total: content.readUIntBE(2, 6), exact: relation === RELATION_EXACT },
  }
}
