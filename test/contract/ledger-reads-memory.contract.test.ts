/** Reads in memory: the contract, and what it leaves open to whoever writes the rows. */
import { describe, expect, test } from 'vitest'
import { createShardHash } from '../../infra/keys/shard-hash.ts'
import { createMemoryLedgerReads, type MemoryLedgerReads } from '../support/ledger-reads-memory.ts'
import { ledgerReadsContract } from './ledger-reads.contract.ts'
import { aQuery, receiptSignatureOf, SEED_START_MS, walk } from './ledger-reads-scene.ts'
import { createBook, type ShardSeed } from './ledger-reads-rows.ts'

const LEDGER_ID = 'ledger-under-test'
const SHARD_COUNT = 16
const shardOf = createShardHash(Buffer.alloc(32, 7), SHARD_COUNT)

function commit(reads: MemoryLedgerReads, ...seeds: readonly ShardSeed[]): void {
  reads.commit({ shards: seeds.map(({ shardId, rows }) => ({ token: { shardId, epoch: 1, attempt: 0 }, ...rows })) })
}

ledgerReadsContract('memory', async () => {
  const reads = createMemoryLedgerReads({ ledgerId: LEDGER_ID })
  return {
    reads,
    ledgerId: LEDGER_ID,
    shardOf,
    write: async (seeds) => {
      for (const seed of seeds) commit(reads, seed)
    },
    close: async () => undefined,
  }
})

describe('LedgerReads: memory, its rows', () => {
  function opened(countLimit: number) {
    const reads = createMemoryLedgerReads({ ledgerId: LEDGER_ID, countLimit })
    const book = createBook(shardOf, receiptSignatureOf)
    commit(reads, book.open('alice', SEED_START_MS), book.open('bob', SEED_START_MS))
    return { reads, book }
  }

  test('the feed goes by commit, and by ID within one, whatever the times', async () => {
    const { reads, book } = opened(10)
    const [late, early] = [
      book.decide('alice', { atMs: SEED_START_MS + 9 }),
      book.decide('bob', { atMs: SEED_START_MS + 8 }),
    ]
    commit(reads, late, early)
    commit(reads, book.decide('bob', { atMs: SEED_START_MS + 1 }))
    const pages = await walk(reads, aQuery({ order: 'asc', limit: 1 }))
    const times = pages.flatMap((page) => page.transactions).map((view) => view.createdAtMs - SEED_START_MS)
    expect(times).toEqual([8, 9, 1])
  })

  test('a count beyond the bound is a lower bound and says so; account and status are counted whole', async () => {
    const { reads, book } = opened(2)
    for (const atMs of [1, 2, 3]) commit(reads, book.decide('alice', { atMs: SEED_START_MS + atMs }))
    const count = async (changes: Parameters<typeof aQuery>[0]) => (await reads.transactions(aQuery(changes))).count
    expect(await count({ type: 'credit' })).toEqual({ total: 2, exact: false })
    expect(await count({ createdFromMs: SEED_START_MS + 2 })).toEqual({ total: 2, exact: true })
    expect(await count({ accountId: 'alice', status: 'completed' })).toEqual({ total: 3, exact: true })
  })

  test('shards are owned from their first write until the last is disowned', async () => {
    const { reads } = opened(10)
    reads.disown(shardOf('alice'))
    expect(await reads.anyShardOwned()).toBe(true)
    for (let shardId = 0; shardId < SHARD_COUNT; shardId += 1) reads.disown(shardId)
    expect(await reads.anyShardOwned()).toBe(false)
    expect(await reads.account('alice')).toBeDefined()
  })
})
