/**
 * The right edge of a Merkle tree of RFC 6962, in tiles of C2SP: all that is needed to add leaves and to compute the root.
 * Tile `n` of level `l` has 256 hashes, each over 256^l leaves. https://c2sp.org/tlog-tiles
 */
import { sha256 } from '../common/sha256.ts'
import type { Tile, TreeEdge } from '../ports/log-store.ts'

export type { Tile, TreeEdge }

export const TILE_WIDTH = 256
export const HASH_BYTES = 32

export interface Grown {
  readonly edge: TreeEdge
  /** Every tile that changed. */
  readonly tiles: readonly Tile[]
}

export const EMPTY_TREE: TreeEdge = { size: 0, levels: [] }

const LEAF = Buffer.of(0)
const NODE = Buffer.of(1)

export function leafHash(entry: Uint8Array): Buffer {
  return sha256(Buffer.concat([LEAF, entry]))
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return sha256(Buffer.concat([NODE, left, right]))
}

/** Number of hashes of a level in a tree of this size. */
export function widthOf(level: number, size: number): number {
  return Math.floor(size / TILE_WIDTH ** level)
}

/** `leaves`: hashes, one after the other. */
export function grow(edge: TreeEdge, leaves: Buffer): Grown {
  const tiles: Tile[] = []
  const levels: Buffer[] = []
  let added = leaves
  for (let level = 0; level < edge.levels.length || added.length > 0; level += 1) {
    const before = edge.levels[level] ?? Buffer.alloc(0)
    const hashes = Buffer.concat([before, added])
    const first = Math.floor(widthOf(level, edge.size) / TILE_WIDTH)
    const complete: Buffer[] = []
    let at = 0
    for (; at + TILE_WIDTH * HASH_BYTES <= hashes.length; at += TILE_WIDTH * HASH_BYTES) {
      const tile = hashes.subarray(at, at + TILE_WIDTH * HASH_BYTES)
      tiles.push({ level, number: first + complete.length, hashes: tile })
      complete.push(rootOfHashes(tile))
    }
    const rest = hashes.subarray(at)
    if (added.length > 0 && rest.length > 0) tiles.push({ level, number: first + complete.length, hashes: rest })
    levels.push(rest)
    added = Buffer.concat(complete)
  }
  return { edge: { size: edge.size + leaves.length / HASH_BYTES, levels }, tiles }
}

/** Root of the whole tree. That of the empty one is the hash of nothing. */
export function rootOf({ levels }: TreeEdge): Buffer {
  const roots = levels.toReversed().flatMap((hashes) => perfectRoots(hashes))
  const last = roots.pop()
  if (last === undefined) return sha256(Buffer.alloc(0))
  return roots.reduceRight((right, left) => nodeHash(left, right), last)
}

/** Roots of the perfect trees over the hashes, the largest first. */
function perfectRoots(hashes: Buffer): readonly Buffer[] {
  const roots: Buffer[] = []
  let at = 0
  for (let width = TILE_WIDTH / 2; width >= 1; width /= 2) {
    if (hashes.length - at < width * HASH_BYTES) continue
    roots.push(rootOfHashes(hashes.subarray(at, at + width * HASH_BYTES)))
    at += width * HASH_BYTES
  }
  return roots
}

/** `hashes`: a power of two of them. */
export function rootOfHashes(hashes: Buffer): Buffer {
  let row = hashes
  while (row.length > HASH_BYTES) {
    const above = Buffer.alloc(row.length / 2)
    for (let at = 0; at < row.length; at += 2 * HASH_BYTES) {
      const [left, right] = [row.subarray(at, at + HASH_BYTES), row.subarray(at + HASH_BYTES, at + 2 * HASH_BYTES)]
      nodeHash(left, right).copy(above, at / 2)
    }
    row = above
  }
  return row
}
