/** A log's tree in memory, with all its tiles. */
import { EMPTY_TREE, grow, HASH_BYTES, leafHash, rootOf, type TreeEdge } from '../../../runtime/log/tree.ts'
import { TreeProofs } from '../../../runtime/log/tree-proofs.ts'

export class AnyTree {
  edge: TreeEdge = EMPTY_TREE
  private readonly tiles = new Map<string, Buffer>()

  constructor(...leaves: readonly string[]) {
    this.add(...leaves)
  }

  add(...leaves: readonly string[]): this {
    const { edge, tiles } = grow(this.edge, Buffer.concat(leaves.map((leaf) => leafHash(Buffer.from(leaf)))))
    this.edge = edge
    for (const { level, number, hashes } of tiles) this.tiles.set(`${level} ${number}`, hashes)
    return this
  }

  head() {
    return { size: this.edge.size, root: rootOf(this.edge) }
  }

  readonly hashes = (level: number, number: number, width: number): Promise<Buffer | undefined> => {
    const found = this.tiles.get(`${level} ${number}`)
    return Promise.resolve(found?.subarray(0, width * HASH_BYTES))
  }

  /** That the tree continues its first leaves. */
  async proof(from: number) {
    const read = async (level: number, number: number, width: number) =>
      (await this.hashes(level, number, width)) ?? Buffer.alloc(0)
    return (await new TreeProofs(read, this.edge.size).consistency(from)).map((hash) => new Uint8Array(hash))
  }
}
