/** The metric of hand-overs counts each shard by its result: taken at once, free, or kept. */
import { expect, test } from 'vitest'
import { EpochsSeen } from '../../../../../runtime/node/ownership/epochs-seen.ts'
import { createHandOver } from '../../../../../runtime/node/ownership/hand-over.ts'

interface Scene {
  /** The next owner is willing, and says that it serves. */
  readonly willing: boolean
  readonly takes: boolean
  /** It became empty in time, and the store lets it go. */
  readonly drains?: boolean
  readonly releases?: boolean
  readonly stays?: boolean
}

async function movesOf({
  willing,
  takes,
  drains = true,
  releases = true,
  stays = false,
}: Scene): Promise<readonly string[]> {
  const moves: string[] = []
  const silent = (): void => undefined
  const handOver = createHandOver({
    store: { release: () => Promise.resolve(releases) },
    leases: { hint: () => Promise.resolve() },
    host: {
      drain: (shardId) => Promise.resolve(drains ? { shardId, epoch: 1, attempt: 0 } : undefined),
      drop: silent,
      serving: () => new Map(),
    },
    calls: {
      offer: (_session, shardIds) => Promise.resolve(willing ? shardIds : []),
      released: () => Promise.resolve(takes),
    },
    log: { info: silent, warn: silent, error: silent },
    metrics: { items: silent, commit: silent, batch: silent, moves: (move) => void moves.push(move) },
    epochs: new EpochsSeen(),
  })
  await handOver[stays ? 'giveToWilling' : 'giveAllAway']([3], new Map([[3, 'next']]))
  return moves
}

test.for([
  ['is willing and serves it', { willing: true, takes: true }, ['handed_over']],
  ['is willing and does not say that it serves it', { willing: true, takes: false }, ['released']],
  ['is not willing', { willing: false, takes: true }, ['released']],
] as const)('a shard whose next owner %s', async ([, scene, moves]) => {
  expect(await movesOf(scene)).toEqual(moves)
})

test('V4: a node that stays gives away only shards that another node takes', async () => {
  expect(await movesOf({ willing: false, takes: true, stays: true })).toEqual([])
  expect(await movesOf({ willing: true, takes: true, stays: true })).toEqual(['handed_over'])
})

test('a shard that did not become empty, or was lost meanwhile, was not given away', async () => {
  expect(await movesOf({ willing: true, takes: true, drains: false })).toEqual([])
  expect(await movesOf({ willing: true, takes: true, releases: false })).toEqual([])
})
