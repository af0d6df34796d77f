/** Proofs of RFC 6962 (2.1.1 and 2.1.2) from the tiles of a log. */
import { EMPTY_TREE, HASH_BYTES, nodeHash, rootOf, rootOfHashes, TILE_WIDTH } from './tree.ts'

/** Reads the hashes of a tile, at least `width` of them. */
export type ReadTile = (level: number, number: number, width: number) => Promise<Buffer>

/** Leaves from `start` up to `end`, without it. */
interface Range {
  readonly start: number
  readonly end: number
}

/** Proofs in one tree. Each tile is read once. */
export class TreeProofs {
  private readonly read: ReadTile
  private readonly size: number
  private readonly tiles = new Map<string, Promise<Buffer>>()

  /** `size`: leaves of the tree. */
  constructor(read: ReadTile, size: number) {
    this.read = read
    this.size = size
  }

  root(): Promise<Buffer> {
    if (this.size === 0) return Promise.resolve(rootOf(EMPTY_TREE))
    return this.rootOf({ start: 0, end: this.size })
  }

  /** Hashes from the sibling of the leaf up. */
  inclusion(index: number): Promise<readonly Buffer[]> {
    if (index < 0 || index >= this.size) throw new RangeError('the tree does not have this leaf')
    return this.path(index, { start: 0, end: this.size })
  }

  /** Proves that the tree continues the smaller one of its first leaves. */
  consistency(smaller: number): Promise<readonly Buffer[]> {
    if (smaller < 0 || smaller > this.size) throw new RangeError('the tree is smaller')
    if (smaller === 0 || smaller === this.size) return Promise.resolve([])
    return this.continuation(smaller, { start: 0, end: this.size }, true)
  }

  private async path(index: number, { start, end }: Range): Promise<readonly Buffer[]> {
    if (end - start === 1) return []
    const middle = start + largestPowerBelow(end - start)
    const [left, right] = [
      { start, end: middle },
      { start: middle, end },
    ]
    if (index < middle) return [...(await this.path(index, left)), await this.rootOf(right)]
    return [...(await this.path(index, right)), await this.rootOf(left)]
  }

  /** `isKnown`: the verifier has the root of these leaves. */
  private async continuation(smaller: number, range: Range, isKnown: boolean): Promise<readonly Buffer[]> {
    const { start, end } = range
    if (smaller === end) return isKnown ? [] : [await this.rootOf(range)]
    const middle = start + largestPowerBelow(end - start)
    const [left, right] = [
      { start, end: middle },
      { start: middle, end },
    ]
    if (smaller <= middle) return [...(await this.continuation(smaller, left, isKnown)), await this.rootOf(right)]
    return [...(await this.continuation(smaller, right, false)), await this.rootOf(left)]
  }

  private async rootOf(range: Range): Promise<Buffer> {
    const { start, end } = range
    const width = end - start
    const middle = start + largestPowerBelow(width)
    if (2 * (middle - start) === width || width === 1) return this.perfectRoot(range)
    const [left, right] = [await this.rootOf({ start, end: middle }), await this.rootOf({ start: middle, end })]
    return nodeHash(left, right)
  }

  /** `range`: as wide as a power of two, and beginning at a multiple of it. */
  private async perfectRoot({ start, end }: Range): Promise<Buffer> {
    const width = end - start
    let [level, unit] = [0, 1]
    while (unit * TILE_WIDTH <= width) [level, unit] = [level + 1, unit * TILE_WIDTH]
    const [first, count] = [start / unit, width / unit]
    const number = Math.floor(first / TILE_WIDTH)
    const hashes = await this.tile(level, number)
    const at = (first % TILE_WIDTH) * HASH_BYTES
    return rootOfHashes(hashes.subarray(at, at + count * HASH_BYTES))
  }

  private tile(level: number, number: number): Promise<Buffer> {
    const key = `${level} ${number}`
    const width = Math.min(TILE_WIDTH, Math.floor(this.size / TILE_WIDTH ** level) - number * TILE_WIDTH)
    const found = this.tiles.get(key) ?? this.read(level, number, width)
    this.tiles.set(key, found)
    return found
  }
}

/** The largest power of two that is smaller; 1 for 2 and less. */
function largestPowerBelow(width: number): number {
  let power = 1
  while (2 * power < width) power *= 2
  return power
}
