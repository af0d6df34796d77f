/** From what is owed to whom, to the trees: one for each token, tile by tile, and the index of leaves. */
import { randomFillSync } from 'node:crypto'
import { type Hash } from '../../actors/audit-chain.ts'
import { LeafHasher, merkleRootOf } from '../../actors/liabilities/hashes.ts'
import { dealt, WORDS_A_PLACE } from '../../actors/liabilities/shares.ts'
import { leavesFor, TILE_ENTRIES, tileCounts, TreeBuilder, type TreeTop } from '../../actors/liabilities/tree.ts'
import { FINGERPRINT_BYTES, type LiabilityBook } from './liability-book.ts'
import {
  createNonces,
  indexPageOf,
  indexRowBytes,
  LeafTileWriter,
  type PageKind,
  writeIndexRow,
} from './liability-pages.ts'

export interface PageSink {
  /** Copies the page. */
  readonly add: (kind: PageKind, number: number, page: Uint8Array) => void
  /** Resolves when more may be added. */
  readonly ready: () => Promise<void>
}

export interface BuiltToken extends TreeTop {
  readonly tokenId: string
  readonly leaves: number
}

export interface BuiltTrees {
  readonly merkleRoot: Hash
  /** In the order of their bytes: a token's place is its rank. */
  readonly tokens: readonly BuiltToken[]
  readonly indexPages: number
}

/** On average; an account with many tokens has all of them on one. */
const ROWS_AN_INDEX_PAGE = 128

export async function buildTrees(book: LiabilityBook, seed: Uint8Array, sink: PageSink): Promise<BuiltTrees> {
  const ranked = book.tokens.map((_, number) => number).sort((one, other) => (nameAt(one) < nameAt(other) ? -1 : 1))
  const rowsOf = grouped(book.rows, book.tokens.length, (row) => book.tokenOf[row] ?? 0)
  const context: TreeContext = {
    book,
    sink,
    writer: new LeafTileWriter(createNonces(seed)),
    leafOf: new Uint32Array(book.rows * book.sharesEach),
  }
  const tokens: BuiltToken[] = []
  let firstTile = 0
  for (const [rank, number] of ranked.entries()) {
    const tokenId = nameAt(number)
    const built = await buildTree(context, { rank, tokenId, rows: rowsOf(number), firstTile })
    if (built.units !== book.totals[number]) throw new Error('a tree does not sum up to what is owed')
    tokens.push(built)
    for (const count of tileCounts(built.leaves)) firstTile += count
  }
  const indexPages = leavesFor(Math.ceil(book.rows / ROWS_AN_INDEX_PAGE))
  const rankOf = new Uint32Array(book.tokens.length)
  for (const [rank, number] of ranked.entries()) rankOf[number] = rank
  await writeIndex(context, rankOf, indexPages)
  return { merkleRoot: merkleRootOf(tokens), tokens, indexPages }

  function nameAt(number: number): string {
    return book.tokens[number] ?? ''
  }
}

interface TreeContext {
  readonly book: LiabilityBook
  readonly sink: PageSink
  readonly writer: LeafTileWriter
  /** Of each row and share, its place in the tree of its token. */
  readonly leafOf: Uint32Array
}

interface TreeTask {
  readonly rank: number
  readonly tokenId: string
  readonly rows: Uint32Array
  /** The number of its first tile among those of all tokens. */
  readonly firstTile: number
}

async function buildTree(context: TreeContext, { rank, tokenId, rows, firstTile }: TreeTask): Promise<BuiltToken> {
  const { book, sink, writer, leafOf } = context
  const { sharesEach } = book
  const shares = rows.length * sharesEach
  const leaves = leavesFor(shares)
  const shareAt = dealt(leaves, randomFillSync(new Uint32Array(leaves * WORDS_A_PLACE)))
  const builder = new TreeBuilder(leaves, (tile, entries) => sink.add('tile', firstTile + tile, entries))
  const hasher = new LeafHasher(tokenId)
  for (let firstLeaf = 0; firstLeaf < leaves; firstLeaf += TILE_ENTRIES) {
    const tile = { token: rank, hasher, firstLeaf, leaves: Math.min(TILE_ENTRIES, leaves) }
    const page = writer.write(tile, (place, target, at) => {
      const share = shareAt[firstLeaf + place] ?? 0
      if (share >= shares) return at
      const row = rows[Math.floor(share / sharesEach)] ?? 0
      leafOf[row * sharesEach + (share % sharesEach)] = firstLeaf + place
      return book.writeRecord(row, share % sharesEach, target, at)
    })
    sink.add('tile', firstTile + firstLeaf / TILE_ENTRIES, page)
    builder.add(writer.entries, tile.leaves)
    await sink.ready()
  }
  return { tokenId, leaves, ...builder.finish() }
}

async function writeIndex({ book, sink, leafOf }: TreeContext, rankOf: Uint32Array, pages: number): Promise<void> {
  const { sharesEach, fingerprints } = book
  const rowsOf = grouped(book.rows, pages, (row) => indexPageOf(fingerprints, row * FINGERPRINT_BYTES, pages))
  const size = indexRowBytes(sharesEach)
  for (let number = 0; number < pages; number += 1) {
    const rows = rowsOf(number)
    const page = Buffer.alloc(rows.length * size)
    rows.forEach((row, index) => {
      const leaves = Array.from({ length: sharesEach }, (_, share) => leafOf[row * sharesEach + share] ?? 0)
      const token = rankOf[book.tokenOf[row] ?? 0] ?? 0
      const fingerprint = fingerprints.subarray(row * FINGERPRINT_BYTES, (row + 1) * FINGERPRINT_BYTES)
      writeIndexRow(page, index * size, { fingerprint, token, leaves })
    })
    sink.add('index', number, page)
    await sink.ready()
  }
}

/** The rows of each group, by counting. */
function grouped(rows: number, groups: number, groupOf: (row: number) => number): (group: number) => Uint32Array {
  const sizes = new Uint32Array(groups)
  for (let row = 0; row < rows; row += 1) {
    const group = groupOf(row)
    sizes[group] = (sizes[group] ?? 0) + 1
  }
  const starts = new Uint32Array(groups + 1)
  for (let group = 0; group < groups; group += 1) starts[group + 1] = (starts[group] ?? 0) + (sizes[group] ?? 0)
  const sorted = new Uint32Array(rows)
  const next = starts.slice()
  for (let row = 0; row < rows; row += 1) {
    const group = groupOf(row)
    const at = next[group] ?? 0
    sorted[at] = row
    next[group] = at + 1
  }
  return (group) => sorted.subarray(starts[group], starts[group + 1])
}
