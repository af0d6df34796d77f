/** Merkle trees of RFC 6962: hashes, and proofs as RFC 9162 verifies them (2.1.3.2 and 2.1.4.2). */
import { type Bytes, concat, hex, sha256 } from '../signing/bytes.ts'

const LEAF = Uint8Array.of(0)
const NODE = Uint8Array.of(1)
/** A tree of 2^53 leaves has no more levels. */
const MOST_HASHES = 63

export function leafHash(entry: Bytes): Promise<Bytes> {
  return sha256(concat(LEAF, entry))
}

export function nodeHash(left: Bytes, right: Bytes): Promise<Bytes> {
  return sha256(concat(NODE, left, right))
}

/** Whether the leaf has this place in the tree. `hashes`: from the leaf's sibling up. */
export async function isIncluded(
  leaf: Bytes,
  index: number,
  { size, root }: Readonly<{ size: number; root: Bytes }>,
  hashes: readonly Bytes[],
): Promise<boolean> {
  if (!isCount(index) || !isCount(size) || index >= size || hashes.length > MOST_HASHES) return false
  let [at, last, hash] = [index, size - 1, leaf]
  for (const sibling of hashes) {
    if (last === 0) return false
    if (isOdd(at) || at === last) {
      hash = await nodeHash(sibling, hash)
      // Levels on which the node has no sibling.
      while (!isOdd(at) && at > 0) [at, last] = [half(at), half(last)]
    } else {
      hash = await nodeHash(hash, sibling)
    }
    ;[at, last] = [half(at), half(last)]
  }
  return last === 0 && isSame(hash, root)
}

/** Whether the second tree continues the first. Every tree continues the empty one, whose proof is empty. */
export async function isConsistent(
  first: Readonly<{ size: number; root: Bytes }>,
  second: Readonly<{ size: number; root: Bytes }>,
  hashes: readonly Bytes[],
): Promise<boolean> {
  if (!isCount(first.size) || !isCount(second.size) || first.size > second.size) return false
  if (hashes.length > MOST_HASHES) return false
  if (first.size === second.size) return hashes.length === 0 && isSame(first.root, second.root)
  if (first.size === 0) return hashes.length === 0
  const isPowerOfTwo = Number.isInteger(Math.log2(first.size)) && 2 ** Math.log2(first.size) === first.size
  const path = isPowerOfTwo ? [first.root, ...hashes] : hashes
  const [start, ...rest] = path
  if (start === undefined) return false
  let [at, last] = [first.size - 1, second.size - 1]
  while (isOdd(at)) [at, last] = [half(at), half(last)]
  let [old, now] = [start, start]
  for (const hash of rest) {
    if (last === 0) return false
    if (isOdd(at) || at === last) {
      old = await nodeHash(hash, old)
      now = await nodeHash(hash, now)
      while (!isOdd(at) && at > 0) [at, last] = [half(at), half(last)]
    } else {
      now = await nodeHash(now, hash)
    }
    ;[at, last] = [half(at), half(last)]
  }
  return last === 0 && isSame(old, first.root) && isSame(now, second.root)
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

function isOdd(value: number): boolean {
  return value % 2 === 1
}

/** Shifts of JavaScript end at 32 bits. */
function half(value: number): number {
  return Math.floor(value / 2)
}

export function isSame(left: Bytes, right: Bytes): boolean {
  return hex(left) === hex(right)
}
