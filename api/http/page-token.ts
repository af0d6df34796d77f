/**
 * Page tokens (D16): where a list goes on, opaque and tamper-evident.
 *   K1. A token is good for one scope only: path, filters, order and client. The scope is not in it; the MAC covers it.
 *   K2. Every character counts: a token that decodes to the right bytes and is spelled otherwise is refused.
 *   K3. At most 512 characters.
 *   K4. A token is encrypted: the next row may be one that the client must not see. The MAC of the content is the
 *       initial vector of its encryption (a synthetic IV, as in RFC 5297), so equal places give equal tokens.
 * base64url(version 1 | AES-256-CTR of (relation 1 | total 6 | cursor) | HMAC-SHA-256 truncated to 16), numbers in bytes,
 * big-endian.
 */
import { createCipheriv, createHmac, timingSafeEqual } from 'node:crypto'
import { invariant } from '../../actors/result.ts'

export const MAX_PAGE_TOKEN_LENGTH = 512

const VERSION = 1
const HEADER_BYTES = 8
const MAC_BYTES = 16
/** Why this MAC can be mistaken for nothing else that the same key might ever sign. */
const PURPOSE = 'ledger page token'
const HIDING_PURPOSE = 'ledger page token, hidden'

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
  const hidingKey = createHmac('sha256', key).update(HIDING_PURPOSE).digest()
  /** Everything but the version; applied twice it gives back what it was. */
  const hiddenOrShown = (content: Buffer, mac: Buffer): Buffer => {
    const cipher = createCipheriv('aes-256-ctr', hidingKey, mac)
    return Buffer.concat([content.subarray(0, 1), cipher.update(content.subarray(1)), cipher.final()])
  }

  return {
    write(scope, position) {
      const content = encode(position)
      const mac = macOf(scope, content)
      const token = Buffer.concat([hiddenOrShown(content, mac), mac]).toString('base64url')
      invariant(token.length <= MAX_PAGE_TOKEN_LENGTH, 'a page token is longer than a page token may be')
      return token
    },
    read(scope, token) {
      if (token.length > MAX_PAGE_TOKEN_LENGTH) return undefined
      const bytes = Buffer.from(token, 'base64url')
      if (bytes.length < HEADER_BYTES + MAC_BYTES || bytes.toString('base64url') !== token) return undefined
      const [given, mac] = [bytes.subarray(0, -MAC_BYTES), bytes.subarray(-MAC_BYTES)]
      const content = hiddenOrShown(given, mac)
      return timingSafeEqual(macOf(scope, content), mac) ? decode(content) : undefined
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
