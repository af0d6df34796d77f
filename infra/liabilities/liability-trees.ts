/** Builds the trees of a book, one per token, tile by tile, and the index of leaves. */
import { randomFillSync } from 'node:crypto'
import { setImmediate as letOthers } from 'node:timers/promises'
import { type Hash } from '../../actors/audit-chain.ts'
import { ENTRY_BYTES, LeafHasher, LONGEST_RECORD, merkleRootOf } from '../../runtime/liabilities/hashes.ts'
import { dealt, WORDS_A_PLACE } from '../../runtime/liabilities/shares.ts'
import { fold, leavesFor, TILE_ENTRIES, tileCounts, TreeBuilder, type TreeTop } from '../../runtime/liabilities/tree.ts'
import { FINGERPRINT_BYTES, type LiabilityBook } from './liability-book.ts'
import {
  createNonces,
  indexPageOf,
  indexRowBytes,
  type Nonces,
  type PageKind,
  writeIndexRow,
  writeLeaves,
  writePaddingRecord,
} from './liability-pages.ts'

export interface PageSink {
  /** Seals and adds a page. The caller may overwrite `page` afterwards. */
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
  /** In the order of their bytes. A token's index is its rank. */
  readonly tokens: readonly BuiltToken[]
  readonly indexPages: number
}

/** Average. An account with many tokens has all its rows on one page. */
const ROWS_AN_INDEX_PAGE = 128

/** Tiles between two turns of the event loop: some milliseconds of work. */
const TILES_A_TURN = 16

export async function buildTrees(book: LiabilityBook, seed: Uint8Array, sink: PageSink): Promise<BuiltTrees> {
  const ranked = book.tokens.map((_, number) => number).sort((one, other) => (nameAt(one) < nameAt(other) ? -1 : 1))
  const rowsOf = grouped(book.rows, book.tokens.length, (row) => book.tokenOf[row] ?? 0)
  const context: TreeContext = {
    book,
    sink,
    nonces: createNonces(seed),
    leafOf: new Uint32Array(book.rows * book.sharesEach),
  }
  const tokens: BuiltToken[] = []
  let firstTile = 0
  for (const [rank, number] of ranked.entries()) {
    const tokenId = nameAt(number)
    const built = await buildTree(context, { rank, tokenId, rows: rowsOf(number), firstTile })
    if (built.units !== book.totals[number]) throw new Error('the sum of a tree is not the total of its token')
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
  readonly nonces: Nonces
  /** Place of each row's shares in the tree of its token. */
  readonly leafOf: Uint32Array
}

interface TreeTask {
  readonly rank: number
  readonly tokenId: string
  readonly rows: Uint32Array
  /** Number of its first tile, counted across all tokens. */
  readonly firstTile: number
}

async function buildTree(context: TreeContext, task: TreeTask): Promise<BuiltToken> {
  const { book, sink, nonces } = context
  const { rank, tokenId, rows, firstTile } = task
  const leaves = leavesFor(rows.length * book.sharesEach)
  const inTile = Math.min(TILE_ENTRIES, leaves)
  const builder = new TreeBuilder(leaves, (tile, entries) => sink.add('tile', firstTile + tile, entries))
  const writeTile = recordsWriter(context, rows, leaves)
  const hasher = new LeafHasher(tokenId)
  const page = Buffer.alloc(inTile * LONGEST_RECORD)
  const entries = Buffer.alloc(inTile * ENTRY_BYTES)
  for (let tile = 0; tile < leaves / inTile; tile += 1) {
    const firstLeaf = tile * inTile
    const records = page.subarray(0, writeTile(page, firstLeaf, firstLeaf + inTile))
    writeLeaves(entries, records, { token: rank, hasher, firstLeaf, leaves: inTile }, nonces)
    fold(entries, inTile)
    builder.add(entries)
    sink.add('tile', firstTile + tile, records)
    await sink.ready()
    if (tile % TILES_A_TURN === 0) await letOthers()
  }
  return { tokenId, leaves, ...builder.finish() }
}

/** Returns a function that writes the records of some leaves of a tree, in random order, and returns their end. */
function recordsWriter(
  { book, leafOf }: TreeContext,
  rows: Uint32Array,
  leaves: number,
): (page: Buffer, firstLeaf: number, endLeaf: number) => number {
  const { sharesEach } = book
  const shares = rows.length * sharesEach
  const shareAt = dealt(leaves, randomFillSync(new Uint32Array(leaves * WORDS_A_PLACE)))
  return (page, firstLeaf, endLeaf) => {
    let at = 0
    for (let leaf = firstLeaf; leaf < endLeaf; leaf += 1) {
      const share = shareAt[leaf] ?? 0
      if (share >= shares) at = writePaddingRecord(page, at)
      else {
        const row = rows[Math.floor(share / sharesEach)] ?? 0
        leafOf[row * sharesEach + (share % sharesEach)] = leaf
        at = book.writeRecord(row, share % sharesEach, page, at)
      }
    }
    return at
  }
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

/** Groups rows by a counting sort. */
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
