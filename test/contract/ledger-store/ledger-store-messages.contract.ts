/** The part of the contract that is about messages between shards (D6). Registered by `ledgerStoreContract`. */
import { describe, expect, test } from 'vitest'
import type { AcknowledgedChannel, ShardStart } from '../../../runtime/ports/ledger-store.ts'
import { creditAccount, partWith, ROWS_START_MS, type Rows } from '../../support/postgres/ledger-rows.ts'
import { sendRows } from '../../support/postgres/ledger-rows-values.ts'
import type { SessionUnderTest } from './ledger-store-harness.ts'
import { committed, type Scene } from './ledger-store-scene.ts'

const EMPTY: ShardStart = { lastTransactionId: null, channels: [], marks: [], outbox: [] }

/** As an owner finds them. */
function messagesOf(...rows: readonly Partial<Rows>[]): ShardStart['outbox'] {
  return rows.flatMap(({ outbox = [] }) => outbox.map(({ target, number, envelope }) => ({ target, number, envelope })))
}

function marks(...numbers: readonly (readonly [source: number, mark: number])[]): Pick<Rows, 'marks'> {
  return { marks: numbers.map(([source, mark]) => ({ source, mark })) }
}

export function messagesContract(scene: Scene): void {
  const start = ({ store }: SessionUnderTest, shardId: number): Promise<ShardStart> =>
    scene.run(store.openShard(shardId))
  const acknowledge = (...channels: readonly AcknowledgedChannel[]): Promise<void> =>
    scene.run(scene.b.store.acknowledge(channels))
  const numbers = async (shardId: number): Promise<string[]> =>
    (await start(scene.a, shardId)).outbox.map(({ target, number }) => `${target}:${number}`)

  describe('D6: what was sent and what was taken in', () => {
    test('a shard that nothing was said to or from starts empty', async () => {
      expect(await start(scene.a, 3)).toEqual(EMPTY)
    })

    test('D6: the next owner finds messages as they were sent, in order per target, with counters and marks', async () => {
      const token = await scene.own(scene.a, 3)
      const other = await scene.own(scene.a, 4)
      const sent = [sendRows(2, 1, 2), sendRows(7, 1, 1)]
      await scene.apply(scene.a, partWith(token, ...sent, marks([5, 3], [3, 1])), partWith(other, sendRows(2, 1, 1)))
      const more = sendRows(2, 3, 11)
      await scene.apply(scene.a, partWith(token, more, marks([5, 9])))
      await scene.own(scene.b, 3, token.epoch)
      const found = await start(scene.b, 3)
      expect(found).toEqual({
        lastTransactionId: null,
        channels: [
          { target: 2, sent: 11, acknowledged: 0 },
          { target: 7, sent: 1, acknowledged: 0 },
        ],
        marks: [
          { source: 3, mark: 1 },
          { source: 5, mark: 9 },
        ],
        outbox: messagesOf(sent[0] ?? {}, more, sent[1] ?? {}),
      })
    })

    test('D6: the counter goes on although no message is left', async () => {
      const token = await scene.own(scene.a, 3)
      await scene.apply(scene.a, partWith(token, sendRows(2, 1, 3)))
      await acknowledge({ shardId: 3, target: 2, acknowledged: 3 })
      expect(await scene.run(scene.a.store.prune([3], ROWS_START_MS + 1, 10))).toBe(3)
      expect(await start(scene.a, 3)).toEqual({ ...EMPTY, channels: [{ target: 2, sent: 3, acknowledged: 3 }] })
      await scene.refuse(scene.a, partWith(token, sendRows(2, 1, 1)))
      await scene.apply(scene.a, partWith(token, sendRows(2, 4, 4)))
    })
  })

  describe('what was acknowledged', () => {
    test('it is not found again, it never goes back, and it never passes what was sent', async () => {
      const token = await scene.own(scene.a, 3)
      await scene.apply(scene.a, partWith(token, sendRows(2, 1, 5), sendRows(4, 1, 2)))
      await acknowledge({ shardId: 3, target: 2, acknowledged: 0 }, { shardId: 3, target: 7, acknowledged: 4 })
      expect(await numbers(3)).toHaveLength(7)
      await acknowledge({ shardId: 3, target: 2, acknowledged: 3 }, { shardId: 3, target: 4, acknowledged: 1 })
      expect(await numbers(3)).toEqual(['2:4', '2:5', '4:2'])
      await acknowledge({ shardId: 3, target: 2, acknowledged: 2 })
      expect(await numbers(3)).toEqual(['2:4', '2:5', '4:2'])
      await acknowledge({ shardId: 3, target: 2, acknowledged: 9 }, { shardId: 3, target: 2, acknowledged: 4 })
      await acknowledge()
      expect((await start(scene.b, 3)).channels).toEqual([
        { target: 2, sent: 5, acknowledged: 5 },
        { target: 4, sent: 2, acknowledged: 1 },
      ])
      await scene.apply(scene.a, partWith(token, sendRows(2, 6, 6)))
      expect(await numbers(3)).toEqual(['2:6', '4:2'])
    })

    test('it is noted while a commit holds the shard', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      await scene.apply(scene.a, partWith(token, sendRows(2, 1, 1)))
      const held = await scene.a.holdCommits()
      const credit = creditAccount(alice, 'k1')
      const verdict = scene.a.store.commit({ shards: [partWith(token, credit.rows, sendRows(2, 2, 2))] })
      await scene.run(held.reached())
      await acknowledge({ shardId: 3, target: 2, acknowledged: 2 })
      expect((await start(scene.b, 3)).channels).toEqual([{ target: 2, sent: 1, acknowledged: 1 }])
      await held.letGo()
      expect(await scene.run(verdict)).toEqual(committed(3))
      expect((await start(scene.b, 3)).channels).toEqual([{ target: 2, sent: 2, acknowledged: 1 }])
    })
  })

  describe('what is deleted', () => {
    test('messages that were taken in and are old enough, of the shards asked for, so many at most', async () => {
      const token = await scene.own(scene.a, 3)
      const other = await scene.own(scene.a, 4)
      const at = ROWS_START_MS
      await scene.apply(
        scene.a,
        partWith(token, sendRows(2, 1, 3, at), sendRows(5, 1, 3, at)),
        partWith(other, sendRows(2, 1, 1, at)),
      )
      await scene.apply(scene.a, partWith(token, sendRows(2, 4, 6, at + 10), sendRows(5, 4, 4, at + 50)))
      const prune = (shardIds: readonly number[], beforeMs: number, limit: number): Promise<number> =>
        scene.run(scene.a.store.prune(shardIds, beforeMs, limit))
      expect(await prune([3, 4], at + 100, 10)).toBe(0)
      await acknowledge(
        { shardId: 3, target: 2, acknowledged: 5 },
        { shardId: 3, target: 5, acknowledged: 1 },
        { shardId: 4, target: 2, acknowledged: 1 },
      )
      expect(await prune([3], at, 10)).toBe(0)
      expect(await prune([], at + 100, 10)).toBe(0)
      expect(await prune([3], at + 10, 3)).toBe(3)
      expect(await prune([3], at + 10, 3)).toBe(1)
      expect(await prune([3], at + 10, 3)).toBe(0)
      expect(await prune([3], at + 11, 10)).toBe(2)
      expect(await prune([3, 4], at + 11, 10)).toBe(1)
      expect(await numbers(3)).toEqual(['2:6', '5:2', '5:3', '5:4'])
    })
  })
}
