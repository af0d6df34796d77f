/**
 * The contract of a ledger store for a database that lacks answered commits: a suite of its own, because not every
 * harness can rewind.
 */
import { describe, expect, test } from 'vitest'
import type { AccountState } from '../../../actors/account/state.ts'
import { LedgerStoreUnavailable } from '../../../runtime/ports/ledger-store.ts'
import { creditAccount, partOf } from '../../support/postgres/ledger-rows.ts'
import type { LedgerStoreHarness, SessionUnderTest } from './ledger-store-harness.ts'
import { committed, setScene } from './ledger-store-scene.ts'

export interface RewindableHarness extends LedgerStoreHarness {
  /**
   * The database shows this account as it was in that version; whose the shards are, in which epochs, stays. Connections
   * may stay, too.
   */
  readonly takeBack: (account: Pick<AccountState, 'shardId' | 'accountId' | 'version'>) => Promise<void>
}

export function rewoundContract(name: string, makeHarness: () => Promise<RewindableHarness>): void {
  describe(`${name} is given up by a store that knows more than it`, () => {
    let takeBack: RewindableHarness['takeBack']
    const scene = setScene(async () => {
      const harness = await makeHarness()
      takeBack = harness.takeBack
      return harness
    })
    /** Until a call has told so. */
    const stops = async ({ store }: SessionUnderTest): Promise<void> => {
      await scene.until(async () => {
        const failure: unknown = await scene.run(store.openShard(3)).catch((error: unknown) => error)
        return failure instanceof LedgerStoreUnavailable && failure.message.includes('went back')
      })
    }

    test('E1: a missing confirmed commit ends all reads and writes of every session', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      const credit = creditAccount(alice, 'k1')
      await scene.apply(scene.a, partOf(token, credit))
      await takeBack(alice)
      scene.a.cutOff()
      await stops(scene.a)
      expect(await scene.commit(scene.a, partOf(token, creditAccount(credit.account, 'k2')))).toMatchObject({
        kind: 'unknown',
      })
      await expect(scene.run(scene.a.store.acquire(4, 0, 1))).rejects.toBeInstanceOf(LedgerStoreUnavailable)
      scene.b.cutOff()
      await scene.until(async () => {
        const failure: unknown = await scene.stateOf(scene.b, alice).catch((error: unknown) => error)
        return failure instanceof LedgerStoreUnavailable
      })
      await expect(scene.run(scene.b.store.acquire(4, 0, 1))).rejects.toBeInstanceOf(LedgerStoreUnavailable)
      await expect(scene.harness.open()).rejects.toBeInstanceOf(LedgerStoreUnavailable)
    })

    test('E1: a commit that was not answered may be missing', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      const credit = creditAccount(alice, 'k1')
      scene.a.loseNextCommit()
      expect(await scene.commit(scene.a, partOf(token, credit))).toMatchObject({ kind: 'unknown' })
      scene.a.cutOff()
      await scene.committing(scene.a, partOf(token))
      expect(await scene.commit(scene.a, partOf(token, credit))).toEqual(committed(3))
    })

    test('E1: what others have written since is no sign of it', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      const theirs = await scene.own(scene.b, 3, token.epoch)
      const credit = creditAccount(alice, 'k1')
      await scene.apply(scene.b, partOf(theirs, credit))
      scene.a.cutOff()
      await scene.until(async () => (await scene.stateOf(scene.a, alice).catch(() => undefined)) !== undefined)
      expect(await scene.stateOf(scene.a, alice)).toEqual(credit.account)
    })
  })
}
