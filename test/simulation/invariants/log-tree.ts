/** A Merkle tree of RFC 6962 that grows, computed level by level. */
import { hash } from 'node:crypto'

const LEAF_PREFIX = Buffer.of(0)
const NODE_PREFIX = Buffer.of(1)

export class LogTree {
  /** Hashes of each level, from the leaves up. A level has those of complete pairs only. */
  private readonly levels: Buffer[][] = [[]]

  get size(): number {
    return this.levels[0]?.length ?? 0
  }

  add(entry: Uint8Array): void {
    let added = hashOf(LEAF_PREFIX, entry)
    for (let height = 0; ; height += 1) {
      const level = (this.levels[height] ??= [])
      level.push(added)
      const [left, right] = level.slice(-2)
      if (level.length % 2 === 1 || left === undefined || right === undefined) return
      added = hashOf(NODE_PREFIX, left, right)
    }
  }

  /** Root of the tree of the first `size` leaves, in base64. */
  rootOf(size: number): string {
    let root: Buffer | undefined
    for (let height = 0; 2 ** height <= size; height += 1) {
      const width = Math.floor(size / 2 ** height)
      if (width % 2 === 0) continue
      const peak = this.levels[height]?.[width - 1] ?? Buffer.alloc(0)
      root = root === undefined ? peak : hashOf(NODE_PREFIX, peak, root)
    }
    return (root ?? hash('sha256', '', 'buffer')).toString('base64')
  }
}

function hashOf(...parts: readonly Uint8Array[]): Buffer {
  return hash('sha256', Buffer.concat(parts), 'buffer')
}
