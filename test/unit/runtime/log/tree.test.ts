/** Tiles, roots and proofs of the log's tree, checked by the client's verification, which shares no code with them. */
import { expect, test } from 'vitest'
import { isConsistent, isIncluded } from '../../../../api/client/log/merkle.ts'
import { parseTilePath, tilePath } from '../../../../runtime/log/tile-paths.ts'
import { EMPTY_TREE, grow, HASH_BYTES, leafHash, rootOf, type TreeEdge } from '../../../../runtime/log/tree.ts'
import { type ReadTile, TreeProofs } from '../../../../runtime/log/tree-proofs.ts'
import { createSeededRandom } from '../../../simulation/kernel/sim-random.ts'

/** A tree that keeps the tiles that it was given, as a database does. */
class KeptTree {
  edge: TreeEdge = EMPTY_TREE
  readonly tiles = new Map<string, Buffer>()
  readonly leaves: Buffer[] = []
  readonly roots: Buffer[] = [rootOf(EMPTY_TREE)]

  add(count: number): void {
    const leaves = Array.from({ length: count }, (_, at) => leafHash(Buffer.from(String(this.leaves.length + at))))
    this.leaves.push(...leaves)
    const { edge, tiles } = grow(this.edge, Buffer.concat(leaves))
    this.edge = edge
    for (const { level, number, hashes } of tiles) this.tiles.set(`${level} ${number}`, hashes)
  }

  readonly read: ReadTile = async (level, number, width) => {
    const found = this.tiles.get(`${level} ${number}`)
    if (found === undefined || found.length < width * HASH_BYTES)
      throw new Error(`no tile ${level}/${number}.p/${width}`)
    return Promise.resolve(found.subarray(0, width * HASH_BYTES))
  }

  shown(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.tiles].map(([name, hashes]) => [name, hashes.toString('hex')]))
  }

  head(size: number) {
    return new TreeProofs(this.read, size).root().then((root) => ({ size, root: new Uint8Array(root) }))
  }
}

function bytes(hashes: readonly Buffer[]) {
  return hashes.map((hash) => new Uint8Array(hash))
}

test('the root is the same however the leaves are added, and that of RFC 6962', async () => {
  const whole = new KeptTree()
  whole.add(70_000)
  const pieces = new KeptTree()
  const random = createSeededRandom(33)
  while (pieces.edge.size < 70_000) pieces.add(Math.min(1 + random.integer(700), 70_000 - pieces.edge.size))
  expect(rootOf(pieces.edge)).toEqual(rootOf(whole.edge))
  expect(pieces.shown()).toEqual(whole.shown())
  expect(await new TreeProofs(whole.read, 70_000).root()).toEqual(rootOf(whole.edge))
  const count = (level: number) => [...whole.tiles.keys()].filter((key) => key.startsWith(`${level} `)).length
  // Of the example in the description of the format.
  expect([count(0), count(1), count(2), count(3)]).toEqual([274, 2, 1, 0])
  const widths = ['0 273', '1 1', '2 0'].map((key) => (whole.tiles.get(key)?.length ?? 0) / HASH_BYTES)
  expect(widths).toEqual([112, 17, 1])
})

test('every leaf has a proof in every later tree, from the tiles of the latest', async () => {
  const tree = new KeptTree()
  tree.add(66_000)
  const random = createSeededRandom(34)
  const sizes = [1, 2, 3, 255, 256, 257, 511, 512, 65_535, 65_536, 65_537, 66_000]
  for (const size of sizes) {
    const [head, proofs] = [await tree.head(size), new TreeProofs(tree.read, size)]
    for (const index of [0, size - 1, random.integer(size), random.integer(size)]) {
      const leaf = new Uint8Array(tree.leaves[index] ?? [])
      const proved = await isIncluded(leaf, index, head, bytes(await proofs.inclusion(index)))
      expect([size, index, proved]).toEqual([size, index, true])
    }
    for (const smaller of [...sizes, 1 + random.integer(size)].filter((other) => other <= size)) {
      const proved = await isConsistent(await tree.head(smaller), head, bytes(await proofs.consistency(smaller)))
      expect([size, smaller, proved]).toEqual([size, smaller, true])
    }
  }
})

test('a proof reads few tiles, whatever the size of the tree', async () => {
  const tree = new KeptTree()
  tree.add(66_000)
  let read = 0
  const counting: ReadTile = (...tile) => {
    read += 1
    return tree.read(...tile)
  }
  await new TreeProofs(counting, 66_000).inclusion(12_345)
  // Those of the leaf, and the edges on the right.
  expect(read).toBeLessThanOrEqual(6)
})

test('a leaf and a size that the tree does not have are refused', () => {
  const proofs = new TreeProofs(() => Promise.reject(new Error('no tile is read')), 5)
  for (const index of [-1, 5]) expect(() => proofs.inclusion(index)).toThrow('the tree does not have this leaf')
  for (const size of [-1, 6]) expect(() => proofs.consistency(size)).toThrow('the tree is smaller')
})

test.for([
  ['0/000', { level: 0, number: 0, width: 256 }],
  ['1/x001/x234/067', { level: 1, number: 1_234_067, width: 256 }],
  ['0/273.p/112', { level: 0, number: 273, width: 112 }],
  ['entries/x001/000.p/1', { level: 'entries', number: 1_000, width: 1 }],
] as const)('the tile of %s', ([path, address]) => {
  expect(parseTilePath(path)).toEqual(address)
  expect(tilePath(address)).toBe(path)
})

test.for([
  '0/0',
  '0/x000/001',
  '0/0001',
  '00/000',
  '64/000',
  '0/000.p/0',
  '0/000.p/256',
  '0/000.p/257',
  '0/000.p/01',
  'entry/000',
  '0/x001000',
  '0/000/',
  '-1/000',
] as const)('%s is the path of no tile', (path) => {
  expect(parseTilePath(path)).toBeUndefined()
})
