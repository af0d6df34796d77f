/** Tests that the trees do not depend on which thread makes a tile, nor on the order of completion. */
import { randomBytes } from 'node:crypto'
import { setImmediate as letOthers } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { TILE_ENTRIES } from '../../../runtime/liabilities/tree.ts'
import { LiabilityBook } from '../../../infra/liabilities/liability-book.ts'
import { openPage } from '../../../infra/liabilities/liability-pages.ts'
import { createTileMakers, type OtherMaker } from '../../../infra/liabilities/liability-tile-makers.ts'
import { createTileThreads } from '../../../infra/liabilities/liability-tile-thread.ts'
import {
  createTileMaker,
  type MadeTiles,
  type TileBatch,
  type TileSecrets,
} from '../../../infra/liabilities/liability-tiles.ts'
import { buildTrees, type BuiltTrees } from '../../../infra/liabilities/liability-trees.ts'

const SECRETS: TileSecrets = { runId: '7', seed: randomBytes(32), sealingKey: Uint8Array.from(randomBytes(32)) }
const SEALING_KEY = Buffer.from(SECRETS.sealingKey)

const makers: OtherMaker[] = []
afterEach(() => {
  for (const { end } of makers.splice(0)) end()
})

/** A thread that runs this program with `parentPort` and `workerData`. */
function threadOf(program: string): OtherMaker {
  const source = `import { parentPort, workerData } from 'node:worker_threads'; ${program}`
  const maker = createTileThreads(new URL(`data:text/javascript,${encodeURIComponent(source)}`))(SECRETS)
  makers.push(maker)
  return maker
}

/** A tile of two leaves, one of them padding. */
function smallBatch(): TileBatch {
  const record = Buffer.concat([Buffer.of(5), Buffer.from('alice'), Buffer.alloc(16, 1)])
  const records = new Uint8Array([...record, 255])
  return {
    token: 0,
    tokenId: 'GOLD',
    firstLeaf: 0,
    leaves: 2,
    firstTile: 0,
    records,
    ends: Uint32Array.of(records.length),
  }
}

/** Several batches of one token and one tile of another. */
async function built(make: (batch: TileBatch) => Promise<MadeTiles>): Promise<Built> {
  const rows = 3_000
  const book = new LiabilityBook({ capacity: rows + 2, sharesEach: 2, seed: SECRETS.seed })
  for (let row = 0; row < rows; row += 1) book.add(Buffer.from(`account-${row}`), 'GOLD', BigInt(row + 1))
  for (const account of ['alice', 'bob']) book.add(Buffer.from(account), 'SILVER', 5n)
  const pages = new Map<number, Buffer>()
  const trees = await buildTrees(book, make, {
    add: (kind, number, page) => void (kind === 'tile' && pages.set(number, Buffer.from(page))),
    addSealed: (kind, number, page) => void pages.set(number, openPage(SEALING_KEY, SECRETS.runId, kind, number, page)),
    ready: () => Promise.resolve(),
  })
  return { trees, pages }
}

interface Built {
  readonly trees: BuiltTrees
  /** By number; GOLD's 64 tiles of leaves first, then the one above them, then SILVER's. */
  readonly pages: ReadonlyMap<number, Buffer>
}

const GOLD_TILES = 8_192 / TILE_ENTRIES

/** The entries above GOLD's leaves, recomputed from the stored records. */
function madeAgain({ pages }: Built): string {
  const make = createTileMaker(SECRETS)
  const folded: Uint8Array[] = []
  for (let tile = 0; tile < GOLD_TILES; tile += 1) {
    const records = new Uint8Array(pages.get(tile) ?? [])
    const batch = { token: 0, tokenId: 'GOLD', firstLeaf: tile * TILE_ENTRIES, leaves: TILE_ENTRIES, firstTile: tile }
    folded.push(make({ ...batch, records, ends: Uint32Array.of(records.length) }).folded)
  }
  return Buffer.concat(folded).toString('hex')
}

function shapeOf({ trees, pages }: Built) {
  return { tiles: pages.size, tokens: trees.tokens.map(({ leaves, units }) => ({ leaves, units })) }
}

const SHAPE = {
  tiles: GOLD_TILES + 1 + 1,
  tokens: [
    { leaves: 8_192, units: (3_000n * 3_001n) / 2n },
    { leaves: 4, units: 10n },
  ],
}

test('made in this thread, every tile is in its place', async () => {
  const tree = await built(createTileMakers(SECRETS, []).make)
  expect(shapeOf(tree)).toEqual(SHAPE)
  expect(tree.pages.get(GOLD_TILES)?.toString('hex')).toBe(madeAgain(tree))
})

test('M1: made in several threads and completed in any order, every tile is in its place', async () => {
  const elsewhere = createTileMaker(SECRETS)
  const done: number[] = []
  let given = 0
  const slow: OtherMaker = {
    make: async (batch) => {
      given += 1
      for (let turn = given % 2 === 0 ? 0 : 9; turn > 0; turn -= 1) await letOthers()
      done.push(batch.firstTile)
      return elsewhere(batch)
    },
    end: () => undefined,
  }
  const tree = await built(createTileMakers(SECRETS, [slow]).make)
  expect(shapeOf(tree)).toEqual(SHAPE)
  expect(tree.pages.get(GOLD_TILES)?.toString('hex')).toBe(madeAgain(tree))
  expect(done.length).toBeLessThan(5)
  expect(done).not.toEqual(done.toSorted((one, other) => one - other))
})

test.for([
  ['that fails', `parentPort.on('message', () => { throw new TypeError('broken') })`, 'broken'],
  ['that ends', `parentPort.on('message', () => process.exit(0))`, 'a thread ended'],
])(
  'M2: a thread %s fails all that it was given, and what it is given after that',
  async ([, program = '', problem]) => {
    const thread = threadOf(program)
    const given = [thread.make(smallBatch()), thread.make(smallBatch())]
    for (const batch of given) await expect(batch).rejects.toThrow(problem)
    await expect(thread.make(smallBatch())).rejects.toThrow(problem)
  },
)

test('M2: a failed batch fails the tree', async () => {
  const failing: OtherMaker = { make: () => Promise.reject(new Error('a thread ended')), end: () => undefined }
  await expect(built(createTileMakers(SECRETS, [failing]).make)).rejects.toThrow('a thread ended')
})
