/**
 * Tiles of leaves, from what their leaves are made of to what is kept of them: most of the work on a tree. No tile needs
 * another one, so that several threads make them.
 */
import { ENTRY_BYTES, LeafHasher } from '../../runtime/liabilities/hashes.ts'
import { fold, TILE_ENTRIES } from '../../runtime/liabilities/tree.ts'
import { createNonces, sealPage, writeLeaves } from './liability-pages.ts'

/** Of one run. Can be sent to a thread. */
export interface TileSecrets {
  readonly runId: string
  readonly seed: Uint8Array
  /** 32 bytes: seals what is stored. */
  readonly sealingKey: Uint8Array
}

/** Some tiles side by side. */
export interface TileBatch {
  /** The token's rank among those of the run. */
  readonly token: number
  readonly tokenId: string
  /** The place of the first leaf in the tree. */
  readonly firstLeaf: number
  /** Of each tile. */
  readonly leaves: number
  /** The first tile's number among those of all tokens. */
  readonly firstTile: number
  /** One tile's records behind the other's. */
  readonly records: Uint8Array<ArrayBuffer>
  /** Where each tile's records end. */
  readonly ends: Uint32Array<ArrayBuffer>
}

export interface MadeTiles {
  /** The entry that each tile folds into. */
  readonly folded: Uint8Array<ArrayBuffer>
  /** One sealed page behind the other. */
  readonly pages: Uint8Array<ArrayBuffer>
  /** Where each page ends. */
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
