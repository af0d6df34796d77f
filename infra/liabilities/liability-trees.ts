/** Builds the trees of a book, one per token, tile by tile, and the index of leaves. */
import { randomFillSync } from 'node:crypto'
import { setImmediate as letOthers } from 'node:timers/promises'
import { type Hash } from '../../actors/audit-chain.ts'
import { ENTRY_BYTES, LONGEST_RECORD, merkleRootOf } from '../../runtime/liabilities/hashes.ts'
import { dealt, WORDS_A_PLACE } from '../../runtime/liabilities/shares.ts'
import { leavesFor, TILE_ENTRIES, tileCounts, TreeBuilder, type TreeTop } from '../../runtime/liabilities/tree.ts'
import { FINGERPRINT_BYTES, type LiabilityBook } from './liability-book.ts'
import { indexPageOf, indexRowBytes, type PageKind, writeIndexRow, writePaddingRecord } from './liability-pages.ts'
import type { MadeTiles, TileBatch } from './liability-tiles.ts'

export interface PageSink {
  /** Seals and adds a page. */
  readonly add: (kind: PageKind, number: number, page: Uint8Array) => void
  /** Adds a page that is sealed already. */
  readonly addSealed: (kind: PageKind, number: number, sealed: Uint8Array) => void
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

/** Makes tiles in any thread. Several batches may be in progress. */
export type TileMaking = (batch: TileBatch) => Promise<MadeTiles>

/** Some milliseconds of work. */
const TILES_A_BATCH = 16
/** Batches in progress: enough that no thread waits for the slowest one. */
const BATCHES_AHEAD = 16

export async function buildTrees(book: LiabilityBook, make: TileMaking, sink: PageSink): Promise<BuiltTrees> {
  const ranked = book.tokens.map((_, number) => number).sort((one, other) => (nameAt(one) < nameAt(other) ? -1 : 1))
  const rowsOf = grouped(book.rows, book.tokens.length, (row) => book.tokenOf[row] ?? 0)
  const context: TreeContext = {
    book,
    sink,
    make,
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
  readonly make: TileMaking
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
  const { book, sink, make } = context
  const { tokenId, rows, firstTile } = task
  const leaves = leavesFor(rows.length * book.sharesEach)
  const builder = new TreeBuilder(leaves, (tile, entries) => sink.add('tile', firstTile + tile, entries))
  const coming: Promise<MadeTiles>[] = []
  let tile = firstTile
  const takeIn = async (): Promise<void> => {
    const made = await coming.shift()
    if (made === undefined) return
    let start = 0
    for (const [index, end] of made.ends.entries()) {
      sink.addSealed('tile', tile, made.pages.subarray(start, end))
      builder.add(Buffer.from(made.folded.buffer, index * ENTRY_BYTES, ENTRY_BYTES))
      tile += 1
      start = end
    }
    await sink.ready()
  }
  for (const batch of batchesOf(context, task, leaves)) {
    const made = make(batch)
    // The await in takeIn reports the error; until then it must not count as unhandled.
    made.catch(() => undefined)
    coming.push(made)
    if (coming.length >= BATCHES_AHEAD) await takeIn()
    await letOthers()
  }
  while (coming.length > 0) await takeIn()
  return { tokenId, leaves, ...builder.finish() }
}

/** The records of a tree's leaves in random order. */
function* batchesOf(
  { book, leafOf }: TreeContext,
  { rank, tokenId, rows, firstTile }: TreeTask,
  leaves: number,
): Generator<TileBatch> {
  const { sharesEach } = book
  const shares = rows.length * sharesEach
  const shareAt = dealt(leaves, randomFillSync(new Uint32Array(leaves * WORDS_A_PLACE)))
  const inTile = Math.min(TILE_ENTRIES, leaves)
  const room = Buffer.alloc(TILES_A_BATCH * TILE_ENTRIES * LONGEST_RECORD)
  for (let firstLeaf = 0; firstLeaf < leaves; firstLeaf += TILES_A_BATCH * inTile) {
    const ends = new Uint32Array(Math.min(TILES_A_BATCH, (leaves - firstLeaf) / inTile))
    let at = 0
    for (let leaf = firstLeaf; leaf < firstLeaf + ends.length * inTile; leaf += 1) {
      const share = shareAt[leaf] ?? 0
      if (share >= shares) at = writePaddingRecord(room, at)
      else {
        const row = rows[Math.floor(share / sharesEach)] ?? 0
        leafOf[row * sharesEach + (share % sharesEach)] = leaf
        at = book.writeRecord(row, share % sharesEach, room, at)
      }
      ends[Math.floor((leaf - firstLeaf) / inTile)] = at
    }
    const records = new Uint8Array(room.subarray(0, at))
    yield { token: rank, tokenId, firstLeaf, leaves: inTile, firstTile: firstTile + firstLeaf / inTile, records, ends }
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
