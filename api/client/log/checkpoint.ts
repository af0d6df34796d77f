/** Heads of a log as text, which the log and its witnesses sign. https://c2sp.org/tlog-checkpoint */
import { base64, type Bytes } from '../signing/bytes.ts'
import { strictBase64 } from './signed-note.ts'

export interface LogHead {
  /** Name of the log. */
  readonly origin: string
  /** Number of entries. */
  readonly size: number
  /** Hash of the tree of all entries; 32 bytes. */
  readonly root: Bytes
}

const HASH_BYTES = 32
const SIZE = /^(0|[1-9][0-9]{0,15})$/

/** Undefined for a malformed text. Lines behind the root are ignored: no witness vouches for them. */
export function parseCheckpoint(text: string): LogHead | undefined {
  const [origin, size, root, ...others] = text.split('\n')
  if (others.pop() !== '' || others.includes('')) return undefined
  const hash = strictBase64(root ?? '')
  if (origin === undefined || origin === '' || size === undefined || hash?.length !== HASH_BYTES) return undefined
  const count = parseCount(size)
  return count === undefined ? undefined : { origin, size: count, root: hash }
}

export function checkpointText({ origin, size, root }: LogHead): string {
  return `${origin}\n${size}\n${base64(root)}\n`
}

/** A decimal number from 0 on, without leading zeros, that is exact in JavaScript. */
export function parseCount(text: string): number | undefined {
  const count = SIZE.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(count) ? count : undefined
}
