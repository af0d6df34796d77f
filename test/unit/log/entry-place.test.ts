/** Finding an entry in a batch: each is found, others are not, and few tiles are read. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { placeWithin } from '../../../infra/log/entry-place.ts'
import { ENTRY_BYTES } from '../../../infra/log/log-entry.ts'

const TILE_WIDTH = 256

function entryOf(number: number): Buffer {
  return createHash('sha512').update(`entry ${number}`).digest().subarray(0, ENTRY_BYTES)
}

/** `before`: entries of the batches before. */
function logOf(entries: readonly Buffer[], before: number) {
  const sorted = entries.toSorted((left, right) => Buffer.compare(left, right))
  const all = [...Array.from({ length: before }, (_, number) => entryOf(-1 - number)), ...sorted]
  let reads = 0
  return {
    sorted,
    reads: () => reads,
    find: (entry: Buffer) => {
      reads = 0
      const store = {
        entries: async (number: number, width: number) => {
          reads += 1
          return Buffer.concat(all.slice(number * TILE_WIDTH, number * TILE_WIDTH + width))
        },
      }
      return placeWithin(store, entry, { first: before, end: all.length })
    },
  }
}

test.for([
  [1, 0],
  [1, 255],
  [2, 255],
  [255, 1],
  [256, 0],
  [257, 100],
  [20_000, 1_000],
] as const)('a batch of %d behind %d', async ([count, before]) => {
  const log = logOf(
    Array.from({ length: count }, (_, number) => entryOf(number)),
    before,
  )
  let most = 0
  for (let at = 0; at < count; at += Math.ceil(count / 400)) {
    expect(await log.find(log.sorted[at] ?? Buffer.alloc(0))).toBe(before + at)
    most = Math.max(most, log.reads())
  }
  expect(most).toBeLessThanOrEqual(3)
  for (let number = 0; number < 100; number += 1) expect(await log.find(entryOf(count + number))).toBeUndefined()
  expect(await log.find(Buffer.alloc(ENTRY_BYTES))).toBeUndefined()
  expect(await log.find(Buffer.alloc(ENTRY_BYTES, 0xff))).toBeUndefined()
})

test('entries that are not evenly distributed are found, too', async () => {
  const close = Array.from({ length: 20_000 }, (_, number) => {
    const entry = Buffer.alloc(ENTRY_BYTES)
    entry.writeUInt32BE(number, ENTRY_BYTES - 4)
    return entry
  })
  const log = logOf(close, 7)
  for (let at = 0; at < close.length; at += 500) expect(await log.find(close[at] ?? Buffer.alloc(0))).toBe(7 + at)
})
