/**
 * A Merkle-sum tree in tiles of up to 128 entries, which cover seven levels. Building the tree and reading a path need one
 * tile per seven levels in memory.
 *   T1. The number of leaves is a power of two. All tiles of a level are full unless there is only one.
 *   T2. Tiles are numbered from the leaves up, each level from left to right.
 */
import type { Hash } from '../../actors/audit-chain.ts'
import { ENTRY_BYTES, HASH_BYTES, writeNode } from './hashes.ts'
import { decimalOf, readSum } from './sums.ts'

const TILE_HEIGHT = 7
export const TILE_ENTRIES = 2 ** TILE_HEIGHT

/** Smallest power of two that is at least `shares`. */
export function leavesFor(shares: number): number {
  let leaves = 1
  while (leaves < shares) leaves *= 2
  return leaves
}

/** Number of tiles in each level of tiles, leaves first (T2). */
export function tileCounts(leaves: number): readonly number[] {
  const counts: number[] = []
  let entries = leaves
  do {
    entries = Math.ceil(entries / TILE_ENTRIES)
    counts.push(entries)
  } while (entries > 1)
  return counts
}

/** Number of a tile on a leaf's path, and the place in it. */
export interface TilePlace {
  readonly tile: number
  readonly place: number
}

export function pathThrough(leaves: number, leaf: number): readonly TilePlace[] {
  let first = 0
  let entry = leaf
  return tileCounts(leaves).map((count) => {
    const place = { tile: first + Math.floor(entry / TILE_ENTRIES), place: entry % TILE_ENTRIES }
    first += count
    entry = Math.floor(entry / TILE_ENTRIES)
    return place
  })
}

/** Folds the first `count` entries, a power of two, into the first entry. */
export function fold(entries: Buffer, count: number): void {
  for (let left = count; left > 1; left /= 2) foldLevel(entries, left)
}

function foldLevel(entries: Buffer, count: number): void {
  for (let node = 0; node < count / 2; node += 1) writeNode(entries, node * ENTRY_BYTES, 2 * node * ENTRY_BYTES)
}

/** Sibling of a node on the path to the root. */
export interface Sibling {
  /** 64 hexadecimal digits. */
  readonly hash: Hash
  readonly sum: string
}

/** Siblings on an entry's path to the top of its tile, the lowest first. Folds the tile like `fold`. */
export function climb(entries: Buffer, count: number, place: number): readonly Sibling[] {
  const siblings: Sibling[] = []
  let at = place
  for (let left = count; left > 1; left /= 2) {
    const beside = (at % 2 === 0 ? at + 1 : at - 1) * ENTRY_BYTES
    siblings.push({
      hash: entries.toString('hex', beside, beside + HASH_BYTES),
      sum: decimalOf(readSum(entries, beside + HASH_BYTES)),
    })
    foldLevel(entries, left)
    at = Math.floor(at / 2)
  }
  return siblings
}

export interface TreeTop {
  readonly root: Hash
  readonly units: bigint
}

/** A level of tiles above the leaves' own. */
interface OpenTile {
  readonly entries: Buffer
  filled: number
  /** Number of the open tile. */
  tile: number
  /** Entries in each tile of this level. */
  readonly size: number
}

export class TreeBuilder {
  private readonly levels: readonly OpenTile[]
  private readonly keep: (tile: number, entries: Buffer) => void
  private readonly top = Buffer.alloc(ENTRY_BYTES)
  private awaited: number

  /** `keep` receives every full tile above the leaves' level. It must copy the entries. */
  constructor(leaves: number, keep: (tile: number, entries: Buffer) => void) {
    const counts = tileCounts(leaves)
    let first = 0
    this.levels = counts.slice(1).map((_, index) => {
      first += counts[index] ?? 0
      const size = Math.min(TILE_ENTRIES, counts[index] ?? 0)
      return { entries: Buffer.alloc(TILE_ENTRIES * ENTRY_BYTES), filled: 0, tile: first, size }
    })
    this.keep = keep
    this.awaited = counts[0] ?? 0
  }

  /** Adds the folded entry of the next tile of leaves, from left to right. */
  add(folded: Buffer): void {
    this.awaited -= 1
    this.raise(folded, 0)
  }

  private raise(from: Buffer, level: number): void {
    const open = this.levels[level]
    if (open === undefined) {
      from.copy(this.top, 0, 0, ENTRY_BYTES)
      return
    }
    from.copy(open.entries, open.filled * ENTRY_BYTES, 0, ENTRY_BYTES)
    open.filled += 1
    if (open.filled < open.size) return
    this.keep(open.tile, open.entries.subarray(0, open.size * ENTRY_BYTES))
    fold(open.entries, open.size)
    open.filled = 0
    open.tile += 1
    this.raise(open.entries, level + 1)
  }

  /** Call after the last tile. */
  finish(): TreeTop {
    if (this.awaited !== 0) throw new RangeError(`The tree lacks ${this.awaited} of its tiles.`)
    return { root: this.top.toString('hex', 0, HASH_BYTES), units: readSum(this.top, HASH_BYTES) }
  }
}
