/** Tests that each tile of a tree is stored under its own number, and that the tiles above the leaves are made from them. */
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { ENTRY_BYTES, LeafHasher } from '../../../runtime/liabilities/hashes.ts'
import { fold, TILE_ENTRIES } from '../../../runtime/liabilities/tree.ts'
import { LiabilityBook } from '../../../infra/liabilities/liability-book.ts'
import { createNonces, writeLeaves } from '../../../infra/liabilities/liability-pages.ts'
import { buildTrees } from '../../../infra/liabilities/liability-trees.ts'

const LEAVES = 8_192
const TILES = LEAVES / TILE_ENTRIES

test('every tile is in its place, and is part of the tile above', async () => {
  const rows = 3_000
  const seed = randomBytes(32)
  const book = new LiabilityBook({ capacity: rows + 2, sharesEach: 2, seed })
  for (let row = 0; row < rows; row += 1) book.add(Buffer.from(`account-${row}`), 'GOLD', BigInt(row + 1))
  for (const account of ['alice', 'bob']) book.add(Buffer.from(account), 'SILVER', 5n)
  const tiles = new Map<number, Buffer>()
  const { tokens } = await buildTrees(book, seed, {
    add: (kind, number, page) => void (kind === 'tile' && tiles.set(number, Buffer.from(page))),
    ready: () => Promise.resolve(),
  })
  expect(tokens).toMatchObject([
    { tokenId: 'GOLD', leaves: LEAVES, units: (3_000n * 3_001n) / 2n },
    { tokenId: 'SILVER', leaves: 4, units: 10n },
  ])
  // GOLD's tiles of leaves, the tile above them, and SILVER's only tile.
  expect([...tiles.keys()].sort((one, other) => one - other)).toEqual(
    Array.from({ length: TILES + 2 }, (_, tile) => tile),
  )
  const nonces = createNonces(seed)
  const hasher = new LeafHasher('GOLD')
  const folded = Array.from({ length: TILES }, (_, tile) => {
    const entries = Buffer.alloc(TILE_ENTRIES * ENTRY_BYTES)
    const place = { token: 0, hasher, firstLeaf: tile * TILE_ENTRIES, leaves: TILE_ENTRIES }
    writeLeaves(entries, tiles.get(tile) ?? Buffer.alloc(0), place, nonces)
    fold(entries, TILE_ENTRIES)
    return entries.subarray(0, ENTRY_BYTES)
  })
  expect(tiles.get(TILES)?.toString('hex')).toBe(Buffer.concat(folded).toString('hex'))
})
