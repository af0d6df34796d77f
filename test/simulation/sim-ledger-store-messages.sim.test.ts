/** Goal: messages of the simulated ledger store are lost and kept as those of a real one, and value is counted wherever it is (M1, I4). */
import { describe, expect, test } from 'vitest'
import { type LedgerStore, LedgerStoreUnavailable } from '../../runtime/ports/ledger-store.ts'
import { ROWS_START_MS } from '../support/ledger-rows.ts'
import { balance, createWorld, leg, messages, OTHER, SESSION, SHARD, token } from './sim-ledger-store-scene.ts'
import type { StoreFaults } from './sim-ledger-store-faults.ts'
import { createSeededRandom } from './sim-random.ts'
import { decimalOf, signedUnits, surplusOf } from './sim-ledger-store-value.ts'

const UNIT = 10n ** 18n

describe('messages on their way', () => {
  const calls: Readonly<Record<string, (store: LedgerStore) => Promise<unknown>>> = {
    acknowledge: (store) => store.acknowledge([{ shardId: SHARD, target: 1, acknowledged: 2 }]),
    prune: (store) => store.prune([SHARD], ROWS_START_MS + 1, 10),
  }

  test.for(['callLost', 'callAnswerLost'] as const)(
    'a call with %s fails, whether it took effect or not',
    async (fault) => {
      for (const [name, call] of Object.entries(calls)) {
        const { kernel, database, store, run, own, apply } = createWorld(1)
        await apply(await own(SHARD), messages(1, [1, 2, 3]))
        if (name === 'prune') await run(store.acknowledge([{ shardId: SHARD, target: 1, acknowledged: 2 }]))
        const withFault = (rate: number): StoreFaults => Object.assign(database.faults, { [fault]: rate })
        withFault(1)
        await expect(run(call(store))).rejects.toBeInstanceOf(LedgerStoreUnavailable)
        await expect(run(store.openShard(SHARD))).rejects.toBeInstanceOf(LedgerStoreUnavailable)
        await expect(run(store.due([SHARD], 1, 1))).rejects.toBeInstanceOf(LedgerStoreUnavailable)
        withFault(0)
        expect(kernel.counted(`fault:store:${fault === 'callLost' ? 'call-lost' : 'call-answer-lost'}`)).toBe(3)
        const [channel] = (await run(store.openShard(SHARD))).channels
        const left = database.rows.channels.unconsumed().map(({ number }) => number)
        const applied = name === 'prune' ? left.length === 1 : channel?.acknowledged === 2
        expect(applied).toBe(fault === 'callAnswerLost')
      }
    },
  )

  test('nothing of a connection that was ended is noted or pruned afterwards', async () => {
    const { kernel, database, store, run, own, apply } = createWorld(1)
    database.faults.slow = 1
    await apply(await own(SHARD), messages(1, [1, 2, 3]))
    const noting = store.acknowledge([{ shardId: SHARD, target: 1, acknowledged: 2 }])
    const failing = expect(run(noting)).rejects.toBeInstanceOf(LedgerStoreUnavailable)
    kernel.schedule(2, 'the connections end', () => database.endSession(SESSION, 'all'))
    await failing
    await kernel.runFor(1_000)
    expect((await run(store.openShard(SHARD))).channels).toEqual([{ target: 1, sent: 3, acknowledged: 0 }])
  })

  test('M1: what was acknowledged never falls, never passes what was sent, and outlives its messages', async () => {
    const { store, run, own, apply } = createWorld(1)
    const mine = await own(SHARD)
    await apply(mine, messages(1, [1, 2], '2', ROWS_START_MS))
    await apply(mine, messages(1, [3, 4], '2', ROWS_START_MS + 10))
    const acknowledge = (acknowledged: number) => run(store.acknowledge([{ shardId: SHARD, target: 1, acknowledged }]))
    const channel = async () => (await run(store.openShard(SHARD))).channels[0]
    for (const [told, noted] of [
      [2, 2],
      [1, 2],
      [3, 3],
      [9, 4],
    ] as const) {
      await acknowledge(told)
      expect(await channel()).toEqual({ target: 1, sent: 4, acknowledged: noted })
    }
    await acknowledge(4)
    expect(await run(store.prune([OTHER], ROWS_START_MS + 99, 10))).toBe(0)
    expect(await run(store.prune([SHARD], ROWS_START_MS + 10, 10))).toBe(2)
    expect(await run(store.prune([SHARD], ROWS_START_MS + 99, 1))).toBe(1)
    expect(await run(store.prune([SHARD], ROWS_START_MS + 99, 10))).toBe(1)
    expect(await channel()).toEqual({ target: 1, sent: 4, acknowledged: 4 })
    await apply(mine, messages(1, [5]))
  })

  test('D6 mutated: numbers start again once all is acknowledged, and the value of the next message is nowhere', async () => {
    const { database, store, run, own, apply } = createWorld(1, { sentFromRows: true })
    const mine = await own(SHARD)
    const theirs = await own(1)
    await apply(mine, { ...messages(1, [1, 2, 3]), boundary: [{ tokenId: 'BASE', credited: '6', debited: '0' }] })
    expect((await run(store.openShard(SHARD))).channels).toEqual([{ target: 1, sent: 3, acknowledged: 0 }])
    await apply(theirs, { ...balance('6'), marks: [{ source: SHARD, mark: 3 }] })
    await run(store.acknowledge([{ shardId: SHARD, target: 1, acknowledged: 3 }]))
    expect(await run(store.prune([SHARD], 0, 1))).toBe(3)
    expect(await run(store.openShard(SHARD))).toMatchObject({ channels: [{ target: 1, sent: 0 }], outbox: [] })
    expect([...database.rows.value.unbalanced()]).toEqual([])
    await apply(mine, { ...messages(1, [1]), boundary: [{ tokenId: 'BASE', credited: '2', debited: '0' }] })
    expect((await run(store.openShard(SHARD))).outbox.map(({ number }) => number)).toEqual([1])
    expect([...database.rows.value.unbalanced()]).toEqual(['BASE'])
  })
})

describe('where value is (I4)', () => {
  test('each part is counted as it is written: balances, holds, messages, supply and the boundary', async () => {
    const { database, store, run, own, apply } = createWorld(1)
    const mine = await own(SHARD)
    const theirs = await own(1)
    const { value } = database.rows
    const parts = () => value.of('BASE')
    await apply(mine, { ...balance('10'), boundary: [{ tokenId: 'BASE', credited: '12', debited: '2' }] })
    expect(parts()).toMatchObject({ balances: 10n * UNIT, credited: 12n * UNIT, debited: 2n * UNIT })
    await apply(mine, { ...balance('6'), holds: [{ accountId: 'alice', holdId: 'h', hold: leg('completed', '4') }] })
    expect(parts()).toMatchObject({ balances: 6n * UNIT, held: 4n * UNIT })
    expect(value.unbalanced().size).toBe(0)
    await apply(mine, { ...messages(1, [1], '4'), removedHolds: [{ accountId: 'alice', holdId: 'h' }] })
    expect(parts()).toMatchObject({ held: 0n, carried: 4n * UNIT })
    expect(value.unbalanced().size).toBe(0)
    await apply(theirs, { marks: [{ source: SHARD, mark: 1 }] })
    expect(parts().carried).toBe(0n)
    expect([...value.unbalanced()]).toEqual(['BASE'])
    expect(surplusOf(parts())).toBe(-4n * UNIT)
    await apply(theirs, balance('4'))
    await apply(mine, { actors: [token(1, 'preparing', '7.5')] })
    expect(value.unbalanced().size).toBe(0)
    await apply(mine, { actors: [token(2, 'crediting', '7.5')] })
    expect(value.of('GOLD').supply).toBe((75n * UNIT) / 10n)
    await apply(mine, balance('7.5', 'GOLD'))
    expect(value.unbalanced().size).toBe(0)
    await run(store.acknowledge([{ shardId: SHARD, target: 1, acknowledged: 1 }]))
    await run(store.prune([SHARD], ROWS_START_MS + 1, 9))
    expect(value.unbalanced().size).toBe(0)
    expect(new Map(database.rows.recount().assets())).toEqual(new Map(value.assets()))
  })

  test('a message may carry less than nothing: what its receiver has and its sender still shows', async () => {
    const { database, own, apply } = createWorld(1)
    await apply(await own(SHARD), messages(1, [1], '-0.25'))
    expect(database.rows.value.of('BASE').carried).toBe(-UNIT / 4n)
    expect(database.rows.recount().of('BASE').carried).toBe(-UNIT / 4n)
    for (const decimal of ['-0.25', '0', '0.000000000000000001', '1200', '-999999999999999999999.5']) {
      expect(decimalOf(signedUnits(decimal))).toBe(decimal)
    }
  })

  test('a message that is gone before it was taken in is value lost', async () => {
    const { database, store, run, own, apply } = createWorld(1)
    await apply(await own(SHARD), { ...messages(1, [1]), boundary: [{ tokenId: 'BASE', credited: '2', debited: '0' }] })
    await run(store.acknowledge([{ shardId: SHARD, target: 1, acknowledged: 1 }]))
    expect(await run(store.prune([SHARD], ROWS_START_MS + 1, 9))).toBe(1)
    expect([...database.rows.value.unbalanced()]).toEqual(['BASE'])
  })

  test.for([1, 2, 3, 4, 5])('what is kept up with every commit is what a recount finds (seed %i)', async (seed) => {
    const { database, store, run, own, apply } = createWorld(seed)
    const random = createSeededRandom(seed, 'value')
    const amount = (): string => `${random.pick(['', '-'])}${random.integer(9)}.${random.integer(9)}`
    const tokens = [await own(0), await own(1), await own(2)] as const
    const sent = new Map<string, number>()
    const marks = new Map<string, number>()
    let version = 0
    for (let step = 0; step < 120; step += 1) {
      const mine = random.pick(tokens)
      const other = random.integer(3)
      const channel = `${mine.shardId} ${other}`
      const last = sent.get(channel) ?? 0
      const count = 1 + random.integer(3)
      const numbers = Array.from({ length: count }, (_, index) => last + index + 1)
      const hold = { accountId: random.pick(['alice', 'bob']), holdId: random.pick(['h', 'i']) }
      const doing = random.integer(8)
      if (doing < 3) {
        await apply(mine, messages(other, numbers, amount()))
        sent.set(channel, last + count)
      } else if (doing === 3) {
        // Now and then ahead of what was sent: wrong, and counted all the same.
        const mark = (marks.get(channel) ?? 0) + 1 + random.integer(3)
        await apply(mine, { marks: [{ source: other, mark }] })
        marks.set(channel, mark)
      } else if (doing === 4) {
        await apply(mine, {
          holds: [{ ...hold, hold: leg(random.pick(['expected', 'completed']), `${random.integer(9)}`) }],
        })
      } else if (doing === 5) {
        await apply(mine, { ...balance(`${random.integer(9)}.5`), removedHolds: [hold] })
      } else if (doing === 6 && mine.shardId === 0) {
        version += 1
        await apply(mine, { actors: [token(version, random.pick(['preparing', 'active']), `${random.integer(9)}`)] })
      } else {
        await run(store.acknowledge([{ shardId: mine.shardId, target: other, acknowledged: last }]))
        await run(store.prune([mine.shardId], ROWS_START_MS + 1, 2))
      }
      const found = database.rows.recount()
      for (const [tokenId, value] of database.rows.value.assets()) expect(found.of(tokenId)).toEqual(value)
      expect(database.rows.value.unbalanced()).toEqual(found.unbalanced())
    }
  })
})
