/**
 * The contract of a ledger store for a server that was not accepted for the ledger: N1, N3 and A1 of infra/postgres.
 */
import { describe, expect, test } from 'vitest'
import { LedgerStoreUnavailable } from '../../../runtime/ports/ledger-store.ts'
import { creditAccount, partOf } from '../../support/postgres/ledger-rows.ts'
import type { LedgerStoreHarness, SessionUnderTest } from './ledger-store-harness.ts'
import { setScene } from './ledger-store-scene.ts'

export interface WatchedSession extends SessionUnderTest {
  /** Why it has stopped for good, each time that it said so. */
  readonly stops: readonly string[]
}

export interface PromotableHarness extends LedgerStoreHarness {
  /** Rejects with `LedgerStoreUnavailable` if the store cannot start. */
  readonly open: () => Promise<WatchedSession>
  /** The database is on a server that was not accepted, with all that was committed. Connections may stay. */
  readonly promote: () => Promise<void>
  /** An administrator's decision about the present server. */
  readonly accept: () => Promise<void>
}

const EPOCH_LEAP = 2 ** 20

export function serverContract(name: string, makeHarness: () => Promise<PromotableHarness>): void {
  describe(`${name} on a server that the ledger was not accepted on`, () => {
    let harness: PromotableHarness
    let sessions: WatchedSession[] = []
    const scene = setScene(async () => {
      harness = await makeHarness()
      sessions = []
      const open = async (): Promise<WatchedSession> => {
        const session = await harness.open()
        sessions.push(session)
        return session
      }
      return { ...harness, open }
    })
    const stopsOf = ({ session }: SessionUnderTest): readonly string[] =>
      sessions.find((one) => one.session === session)?.stops ?? []

    test('N3: ends all reading and writing of a session, which says so once, whatever is accepted later', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      await harness.promote()
      scene.a.cutOff()
      await scene.until(async () => {
        await scene.run(scene.a.store.openShard(3)).catch(() => undefined)
        return stopsOf(scene.a).length > 0
      })
      await harness.accept()
      const credit = partOf(token, creditAccount(alice, 'k1'))
      expect(await scene.commit(scene.a, credit)).toMatchObject({ kind: 'unknown' })
      await expect(scene.run(scene.a.store.shards())).rejects.toBeInstanceOf(LedgerStoreUnavailable)
      await expect(scene.run(scene.a.store.acquire(4, 0, 1))).rejects.toThrow(/not accepted/)
      expect(stopsOf(scene.a)).toEqual([expect.stringContaining('not accepted')])
    })

    test('N3: is refused by a session that has seen no other', async () => {
      await harness.promote()
      await expect(scene.harness.open()).rejects.toBeInstanceOf(LedgerStoreUnavailable)
      await expect(scene.harness.open()).rejects.toThrow(/not accepted/)
    })

    test('A1: once accepted, has all that was committed, every epoch far above those before, and no owner', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      await harness.promote()
      await harness.accept()
      // Of a session that has not noticed: its connection may be there still.
      await scene.commit(scene.a, partOf(token, creditAccount(alice, 'k1')))
      const c = await scene.harness.open()
      const records = await scene.run(c.store.shards())
      expect(records).toHaveLength(harness.shardCount)
      for (const { shardId, epoch, session, nodeId } of records) {
        expect({ epoch, session, nodeId }).toEqual({
          epoch: EPOCH_LEAP + (shardId === 3 ? token.epoch : 0),
          session: null,
          nodeId: null,
        })
      }
      expect(await scene.stateOf(c, alice)).toEqual(alice)
      const taken = await scene.own(c, 3, EPOCH_LEAP + token.epoch)
      const credit = creditAccount(alice, 'k2')
      await scene.apply(c, partOf(taken, credit))
      expect(await scene.stateOf(c, alice)).toEqual(credit.account)
    })
  })
}
