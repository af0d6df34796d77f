/**
 * Tiles of a log, each proved by a signed head: the last tiles of all levels have its root, and any other tile has the hash
 * that the tile above it names. A proof from them fails only if the log itself is another one.
 */
import { tilePath } from '../../../runtime/log/tile-paths.ts'
import { HASH_BYTES, rootOf, rootOfHashes, TILE_WIDTH, widthOf } from '../../../runtime/log/tree.ts'
import type { ReadTile } from '../../../runtime/log/tree-proofs.ts'
import type { TreeHead } from '../../../runtime/log/sequencer.ts'
import { FaultFound } from './finding.ts'
import type { LogReader } from './log-reader.ts'

/** The read tiles throw FaultFound. `head`: signed. */
export function signedTiles(reader: Pick<LogReader, 'hashes'>, { size, root }: TreeHead): ReadTile {
  const tiles = new Map<string, Promise<Buffer>>()
  let edge: Promise<readonly Buffer[]> | undefined

  async function readEdge(): Promise<readonly Buffer[]> {
    const levels: Buffer[] = []
    for (let level = 0, width = size; width > 0; level += 1, width = widthOf(level, size)) {
      const rest = width % TILE_WIDTH
      levels.push(rest === 0 ? Buffer.alloc(0) : await reader.hashes(level, Math.floor(width / TILE_WIDTH), rest))
    }
    if (rootOf({ size, levels }).equals(root)) return levels
    throw new FaultFound('tampered', `the tiles do not have the root of the signed head of ${size} entries`)
  }

  async function complete(level: number, number: number): Promise<Buffer> {
    const [hashes, above] = [
      await reader.hashes(level, number, TILE_WIDTH),
      await tile(level + 1, Math.floor(number / TILE_WIDTH)),
    ]
    const at = (number % TILE_WIDTH) * HASH_BYTES
    if (rootOfHashes(hashes).equals(above.subarray(at, at + HASH_BYTES))) return hashes
    const path = tilePath({ level, number, width: TILE_WIDTH })
    throw new FaultFound('tampered', `the tile ${path} does not have the hash in the tile above it`, { tile: path })
  }

  async function tile(level: number, number: number): Promise<Buffer> {
    edge ??= readEdge()
    if (number === Math.floor(widthOf(level, size) / TILE_WIDTH)) return (await edge)[level] ?? Buffer.alloc(0)
    const key = `${level} ${number}`
    const found = tiles.get(key) ?? complete(level, number)
    tiles.set(key, found)
    return found
  }

  return async (level, number, width) => (await tile(level, number)).subarray(0, width * HASH_BYTES)
}
