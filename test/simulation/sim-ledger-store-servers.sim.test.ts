/** Goal: the simulated database, when its server changes, has and lacks just what a real one would (S1, N1). */
import { expect, test } from 'vitest'
import { creditAccount, openAccount, partOf, partWith } from '../support/ledger-rows.ts'
import { eventRows, historyOf, NFT_ID } from '../support/ledger-rows-nfts.ts'
import type { Rows } from './sim-ledger-store-rows.ts'
import { balance, createWorld, leg, messages, OTHER, SHARD, token } from './sim-ledger-store-scene.ts'
import { createSimLedgerStore } from './sim-ledger-store.ts'

const SEEDS = Array.from({ length: 20 }, (_, index) => index + 1)

function plain(_name: string, value: unknown): unknown {
  if (value instanceof Map) return [...value]
  return typeof value === 'bigint' ? value.toString() : value
}

/** Everything that can be read of two shards, as it is now. */
function readable(rows: Rows): readonly string[] {
  const { accounts, balances, keys, entries, transactions, operations, boundary, value, channels } = rows
  const ofShards = [SHARD, OTHER].map((shardId) => [
    channels.channelStarts(shardId),
    channels.marks(shardId),
    channels.outbox(shardId),
    rows.transactionTable.lastId(shardId),
  ])
  const tables = [accounts, balances, keys, entries, transactions, operations, boundary, value.assets()]
  const others = [rows.allHolds(), channels.unconsumed(), rows.actors.all(), rows.nftEvents.all(), ofShards]
  return [...tables, ...others].map((part) => JSON.stringify(part, plain))
}

test('S1: a standby has what was told to it and no more, and the server that was lost comes back with the rest', async () => {
  const { database, store, run, own, apply } = createWorld(1)
  const mine = await own(SHARD)
  const alice = openAccount(SHARD, 'alice')
  await apply(mine, partWith(mine, alice.rows, balance('1'), messages(1, [1, 2])))
  await apply(
    mine,
    partWith(mine, eventRows(NFT_ID, ...historyOf(['alice'])), {
      marks: [{ source: 2, mark: 1 }],
      actors: [token(1, 'active', '1')],
      boundary: [{ tokenId: 'BASE', credited: '1', debited: '0' }],
      holds: [{ accountId: 'alice', holdId: 'h', hold: leg('completed', '1') }],
    }),
  )
  const told = readable(database.rows)
  const standby = database.standby()
  expect(readable(standby.rows)).toEqual(told)
  await apply(mine, partOf(mine, creditAccount(alice.account, 'k1')))
  await apply(
    mine,
    partWith(mine, eventRows(NFT_ID, ...historyOf(['alice', 'bob']).slice(1)), { marks: [{ source: 2, mark: 2 }] }),
  )
  const [epoch] = [(await own(OTHER)).epoch]
  await run(store.acknowledge([{ shardId: SHARD, target: 1, acknowledged: 1 }]))
  const later = readable(database.rows)
  expect(later).not.toEqual(told)
  database.promote(standby)
  expect(readable(database.rows)).toEqual(told)
  expect(database.shardRow(OTHER).epoch).toBe(epoch - 1)
  expect(database.server).toEqual({ timeline: 2, accepted: false, wentBack: false })
  database.recover()
  expect(readable(database.rows)).toEqual(later)
  expect(database.shardRow(OTHER).epoch).toBe(epoch)
  expect(database.server).toEqual({ timeline: 1, accepted: true, wentBack: false })
})

test('each promotion starts a timeline that was never there, and once accepted it stays so', () => {
  const { database } = createWorld(1)
  const timelines: unknown[] = []
  for (const standby of [database.standby(), undefined, database.standby(), undefined]) {
    database.promote(standby)
    timelines.push(database.server)
    database.recover()
    timelines.push(database.server)
  }
  expect(timelines).toEqual([
    { timeline: 2, accepted: false, wentBack: false },
    { timeline: 1, accepted: true, wentBack: false },
    { timeline: 3, accepted: false, wentBack: false },
    { timeline: 3, accepted: true, wentBack: false },
    { timeline: 4, accepted: false, wentBack: false },
    { timeline: 3, accepted: true, wentBack: false },
    { timeline: 5, accepted: false, wentBack: false },
    { timeline: 5, accepted: true, wentBack: false },
  ])
})

test('a commit that is under way when the server is lost has taken effect or not, and its session does not know', async () => {
  const applied: boolean[] = []
  for (const seed of SEEDS) {
    const { kernel, database, store, run, own } = createWorld(seed)
    const mine = await own(SHARD)
    const committing = store.commit({ shards: [partOf(mine, openAccount(SHARD, 'alice'))] })
    database.onCommitStart(() => kernel.schedule(0, 'the server is lost', () => database.promote()))
    expect(await run(committing)).toMatchObject({ kind: 'unknown' })
    applied.push(database.rows.accounts.size > 0)
    await kernel.runFor(10_000)
    expect(database.rows.accounts.size > 0).toBe(applied.at(-1))
  }
  expect(new Set(applied)).toEqual(new Set([true, false]))
})

test('N1: a session that has seen another server first stops on one that is accepted, and a new one goes on', async () => {
  const { kernel, database, store, run } = createWorld(1)
  await run(store.probe())
  database.promote()
  database.accept()
  const stopped = 'the server is not the one seen before: its timeline was 1 and is 2'
  await expect(run(store.probe())).rejects.toThrow(stopped)
  await expect(run(store.shards())).rejects.toThrow(stopped)
  const process = kernel.process('other')
  const theirs = createSimLedgerStore({ database, process, session: 'b'.repeat(32), nodeId: 'other' })
  expect(await run(theirs.shards())).toHaveLength(database.shardCount)
})

test('whoever looks at the server itself is told that it was not accepted, and may ask it all the same', async () => {
  const { kernel, database, run } = createWorld(1)
  const process = kernel.process('edge')
  const session = 'b'.repeat(32)
  const edge = createSimLedgerStore({ database, process, session, nodeId: 'edge', looksAtServer: false })
  expect(await run(edge.refusal())).toBeUndefined()
  database.promote()
  expect(await run(edge.refusal())).toMatch(/timeline 2, .* not accepted/)
  expect(await run(edge.shards())).toHaveLength(database.shardCount)
  database.accept()
  expect(await run(edge.refusal())).toBeUndefined()
})
