/**
 * Reads the entries of a log, and computes its tree from them.
 *   R1. Each complete tile, and each incomplete one of the whole tree, is the computed one. Otherwise the first place in which
 *       they differ is named.
 *   R2. Memory is bounded by a part of the log, however long that is.
 */
import { untilFailure } from '../../../runtime/common/in-parallel.ts'
import { tilePath } from '../../../runtime/log/tile-paths.ts'
import { grow, HASH_BYTES, leafHash, type Tile, TILE_WIDTH, type TreeEdge, widthOf } from '../../../runtime/log/tree.ts'
import { ENTRY_BYTES } from '../log-entry.ts'
import type { LogPart } from './account-tags.ts'
import { FaultFound } from './finding.ts'
import type { LogReader } from './log-reader.ts'

/** Longer than a batch of the ledger's log, apart from one of a huge commit. */
export const PART_ENTRIES = 65_536

const READS_AT_ONCE = 8

export interface ReadPart {
  readonly part: LogPart
  /** The tree of all entries up to the end of the part. */
  readonly edge: TreeEdge
}

/**
 * Yields the entries behind `edge` up to `size`, in order. `partEntries`: a multiple of 256. Throws FaultFound, LogIncomplete
 * and LogUnreachable.
 */
export async function* readTree(
  reader: LogReader,
  edge: TreeEdge,
  size: number,
  partEntries = PART_ENTRIES,
): AsyncGenerator<ReadPart> {
  let before = edge
  while (before.size < size) {
    const end = Math.min(size, (Math.floor(before.size / partEntries) + 1) * partEntries)
    const entries = await readEntries(reader, before, end)
    const { edge: after, tiles } = grow(before, leavesOf(entries))
    const compared = [...tiles.filter(isComplete), ...(end === size ? incompleteTiles(after) : [])]
    await untilFailure(compared, READS_AT_ONCE, (tile) => compareTile(reader, tile))
    yield { part: { first: before.size, entries }, edge: after }
    before = after
  }
}

/** The entries from the end of the tree up to `end`. */
async function readEntries(reader: LogReader, { size, levels }: TreeEdge, end: number): Promise<Buffer> {
  const first = Math.floor(size / TILE_WIDTH)
  const bundles = Array.from<Buffer>({ length: Math.ceil(end / TILE_WIDTH) - first })
  await untilFailure([...bundles.keys()], READS_AT_ONCE, async (index) => {
    const number = first + index
    bundles[index] = await reader.entries(number, Math.min(TILE_WIDTH, end - number * TILE_WIDTH))
  })
  const known = levels[0] ?? Buffer.alloc(0)
  const all = Buffer.concat(bundles)
  const knownBytes = (known.length / HASH_BYTES) * ENTRY_BYTES
  const changed = firstDifference(leavesOf(all.subarray(0, knownBytes)), known)
  if (changed !== undefined) {
    const place = first * TILE_WIDTH + changed
    throw new FaultFound('tampered', `the entry in place ${place} is not the one that was verified before`, { place })
  }
  return all.subarray(knownBytes)
}

function leavesOf(entries: Buffer): Buffer {
  const leaves = Buffer.alloc((entries.length / ENTRY_BYTES) * HASH_BYTES)
  for (let at = 0; at * ENTRY_BYTES < entries.length; at += 1) {
    leafHash(entries.subarray(at * ENTRY_BYTES, (at + 1) * ENTRY_BYTES)).copy(leaves, at * HASH_BYTES)
  }
  return leaves
}

function isComplete({ hashes }: Tile): boolean {
  return hashes.length === TILE_WIDTH * HASH_BYTES
}

function incompleteTiles({ size, levels }: TreeEdge): readonly Tile[] {
  return levels
    .map((hashes, level) => ({ level, number: Math.floor(widthOf(level, size) / TILE_WIDTH), hashes }))
    .filter(({ hashes }) => hashes.length > 0)
}

/** R1. */
async function compareTile(reader: LogReader, { level, number, hashes }: Tile): Promise<void> {
  const width = hashes.length / HASH_BYTES
  const index = firstDifference(await reader.hashes(level, number, width), hashes)
  if (index === undefined) return
  const path = tilePath({ level, number, width })
  const place = number * TILE_WIDTH + index
  throw level === 0
    ? new FaultFound('tampered', `the entry in place ${place} does not have the hash in the tile ${path}`, { place })
    : new FaultFound('tampered', `hash ${index} of the tile ${path} is not that of the tile below it`, { tile: path })
}

/** Index of the first hash that differs. */
function firstDifference(left: Buffer, right: Buffer): number | undefined {
  if (left.equals(right)) return undefined
  let index = 0
  const hashIn = (hashes: Buffer): Buffer => hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES)
  while (index * HASH_BYTES < left.length && hashIn(left).equals(hashIn(right))) index += 1
  return index
}
