/**
 * Makes tiles of leaves from the leaves' records: most of the work on a tree. Tiles are independent of each other, so several
 * threads can make them.
 */
import { ENTRY_BYTES, LeafHasher } from '../../runtime/liabilities/hashes.ts'
import { fold, TILE_ENTRIES } from '../../runtime/liabilities/tree.ts'
import { createNonces, sealPage, writeLeaves } from './liability-pages.ts'

/** Secrets of one run. Can be sent to a thread. */
export interface TileSecrets {
  readonly runId: string
  readonly seed: Uint8Array
  /** 32 bytes that seal the stored pages. */
  readonly sealingKey: Uint8Array
}

/** Adjacent tiles of one tree. */
export interface TileBatch {
  /** Rank of the token in the run. */
  readonly token: number
  readonly tokenId: string
  /** Place of the first leaf in the tree. */
  readonly firstLeaf: number
  /** Leaves per tile. */
  readonly leaves: number
  /** Number of the first tile, counted across all tokens. */
  readonly firstTile: number
  /** Records of all tiles in sequence. */
  readonly records: Uint8Array<ArrayBuffer>
  /** End of each tile's records. */
  readonly ends: Uint32Array<ArrayBuffer>
}

export interface MadeTiles {
  /** The top entry of each tile. */
  readonly folded: Uint8Array<ArrayBuffer>
  /** Sealed pages in sequence. */
  readonly pages: Uint8Array<ArrayBuffer>
  /** End of each page. */
  readonly ends: Uint32Array<ArrayBuffer>
}

export type MakeTiles = (batch: TileBatch) => MadeTiles

export function createTileMaker({ runId, seed, sealingKey }: TileSecrets): MakeTiles {
  const nonces = createNonces(seed)
  const key = Buffer.from(sealingKey.buffer, sealingKey.byteOffset, sealingKey.length)
  const entries = Buffer.alloc(TILE_ENTRIES * ENTRY_BYTES)
  let hasher: { readonly tokenId: string; readonly leaves: LeafHasher } | undefined

  return ({ token, tokenId, firstLeaf, leaves, firstTile, records, ends }) => {
    if (hasher?.tokenId !== tokenId) hasher = { tokenId, leaves: new LeafHasher(tokenId) }
    const folded = new Uint8Array(ends.length * ENTRY_BYTES)
    const sealed: Buffer[] = []
    let start = 0
    for (const [index, end] of ends.entries()) {
      const page = Buffer.from(records.buffer, records.byteOffset + start, end - start)
      const tile = { token, hasher: hasher.leaves, firstLeaf: firstLeaf + index * leaves, leaves }
      writeLeaves(entries, page, tile, nonces)
      fold(entries, leaves)
      folded.set(entries.subarray(0, ENTRY_BYTES), index * ENTRY_BYTES)
      sealed.push(sealPage(key, runId, 'tile', firstTile + index, page))
      start = end
    }
    return { folded, ...joined(sealed) }
  }
}

function joined(pages: readonly Buffer[]): Pick<MadeTiles, 'pages' | 'ends'> {
  const ends = new Uint32Array(pages.length)
  let size = 0
  for (const [index, page] of pages.entries()) {
    size += page.length
    ends[index] = size
  }
  const all = new Uint8Array(size)
  for (const [index, page] of pages.entries()) all.set(page, (ends[index] ?? 0) - page.length)
  return { pages: all, ends }
}
