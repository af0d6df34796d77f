/** The part of the contract that is about who owns a shard, and which sessions live. Registered by `ledgerStoreContract`. */
import { describe, expect, test } from 'vitest'
import { partOf } from '../../support/postgres/ledger-rows.ts'
import { committed, type Scene } from './ledger-store-scene.ts'

export function ownershipContract(scene: Scene): void {
  describe('ownership', () => {
    test('a new ledger has all its shards, without owners', async () => {
      const shards = await scene.run(scene.a.store.shards())
      expect(shards).toEqual(
        Array.from({ length: scene.harness.shardCount }, (_, shardId) => ({
          shardId,
          epoch: 0,
          attempt: 0,
          nodeId: null,
          session: null,
        })),
      )
    })

    test('an acquired shard names its owner and its new epoch', async () => {
      expect(await scene.run(scene.a.store.acquire(3, 0, 7))).toEqual({
        kind: 'owned',
        token: { shardId: 3, epoch: 7, attempt: 0 },
      })
      expect((await scene.run(scene.b.store.shards()))[3]).toEqual({
        shardId: 3,
        epoch: 7,
        attempt: 0,
        nodeId: scene.a.nodeId,
        session: scene.a.session,
      })
    })

    test('of those who saw the same epoch one acquires and the others lose', async () => {
      const results = await scene.run(Promise.all([scene.a.store.acquire(3, 0, 1), scene.b.store.acquire(3, 0, 1)]))
      expect(results.map((result) => result.kind).toSorted()).toEqual(['lost', 'owned'])
    })

    test('a released shard has a higher epoch and no owner, and its token is worth nothing', async () => {
      const token = await scene.own(scene.a, 3)
      expect(await scene.run(scene.b.store.release(token))).toBe(false)
      expect(await scene.run(scene.a.store.release(token))).toBe(true)
      expect(await scene.run(scene.a.store.release(token))).toBe(false)
      const [, , , released] = await scene.run(scene.a.store.shards())
      expect(released).toMatchObject({ nodeId: null, session: null })
      expect(released?.epoch).toBeGreaterThan(token.epoch)
      expect(await scene.commit(scene.a, partOf(token))).toEqual(committed())
    })

    test('an attempt is raised by the owner alone, from the attempt it has', async () => {
      const token = await scene.own(scene.a, 3)
      expect(await scene.run(scene.b.store.raiseAttempt(token))).toBe(false)
      expect(await scene.run(scene.a.store.raiseAttempt(token))).toBe(true)
      expect(await scene.run(scene.a.store.raiseAttempt(token))).toBe(false)
      expect((await scene.run(scene.a.store.shards()))[3]).toMatchObject({
        epoch: token.epoch,
        attempt: token.attempt + 1,
      })
    })

    test('a probe shows a clock that does not go back', async () => {
      const first = await scene.run(scene.a.store.probe())
      const second = await scene.run(scene.b.store.probe())
      expect(first.nowMs).toBeGreaterThan(1_000_000_000_000)
      expect(second.nowMs).toBeGreaterThanOrEqual(first.nowMs)
    })
  })

  describe('sessions', () => {
    test('a session is held from its start until its process is gone', async () => {
      expect(await scene.run(scene.b.store.sessionHeld(scene.a.session))).toBe(true)
      expect(await scene.run(scene.b.store.sessionHeld(scene.b.session))).toBe(true)
      expect(await scene.run(scene.b.store.sessionHeld('00000000000000000000000000000000'))).toBe(false)
      await scene.a.crash()
      await scene.until(async () => !(await scene.run(scene.b.store.sessionHeld(scene.a.session))))
      expect(await scene.run(scene.b.store.sessionHeld(scene.b.session))).toBe(true)
    })

    test('looking whether a session is held does not hold it: many may look at once', async () => {
      const looks = await scene.run(
        Promise.all(
          Array.from({ length: 8 }, (_, index) =>
            (index % 2 === 0 ? scene.a : scene.b).store.sessionHeld('f'.repeat(32)),
          ),
        ),
      )
      expect(looks).toEqual(Array<boolean>(8).fill(false))
    })

    test('a session does not end itself', async () => {
      await scene.run(scene.a.store.terminate(scene.a.session))
      const token = await scene.own(scene.a, 3)
      expect(await scene.commit(scene.a, partOf(token))).toEqual(committed(3))
    })
  })
}
