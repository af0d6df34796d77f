/** The part of the contract that is about accounts that are erased (D7): of stores that can destroy what they hold. */
import { describe, expect, test } from 'vitest'
import { creditAccount, openAccount, partOf, rotateAccount } from '../../support/postgres/ledger-rows.ts'
import { debitAll, eraseAccount, statusRefused } from '../../support/postgres/ledger-rows-erasure.ts'
import type { LedgerStoreHarness } from './ledger-store-harness.ts'
import { type Scene, setScene } from './ledger-store-scene.ts'

export function erasureContract(name: string, makeHarness: () => Promise<LedgerStoreHarness>): void {
  describe(`${name} erases accounts`, () => {
    const scene = setScene(makeHarness)

    async function lived(token: Awaited<ReturnType<Scene['own']>>) {
      const open = openAccount(3, 'alice')
      await scene.apply(scene.a, partOf(token, open))
      const credit = creditAccount(open.account, 'k')
      await scene.apply(scene.a, partOf(token, credit))
      const rotated = rotateAccount(credit.account, 'k')
      await scene.apply(scene.a, partOf(token, rotated))
      const emptied = debitAll(rotated.account)
      await scene.apply(scene.a, partOf(token, emptied))
      return { txnId: credit.rows.transactions[0]?.transaction.txnId ?? '', account: emptied.account }
    }

    test('D7: what an erased account did is not found any more; that it was there is, and what its chain has come to', async () => {
      const token = await scene.own(scene.a, 3)
      const { account, txnId } = await lived(token)
      const erased = eraseAccount(account)
      await scene.apply(scene.a, partOf(token, erased))
      for (const session of [scene.a, scene.b]) {
        expect(await scene.stateOf(session, account)).toEqual(erased.account)
        const key = { shardId: 3, accountId: 'alice', idempotencyKey: 'k' }
        const answer = await scene.ask(session, {
          keys: [
            { ...key, operation: 'transaction' },
            { ...key, operation: 'key_rotation' },
          ],
          transactions: [{ shardId: 3, txnId }],
          existing: [{ shardId: 3, accountId: 'alice' }],
        })
        expect([answer.keys.size, answer.transactions.size, answer.existing.size]).toEqual([0, 0, 1])
        expect([...answer.unreadable]).toEqual([])
      }
    })

    test('D7: an erased account goes on being written, and its neighbors are as they were', async () => {
      const token = await scene.own(scene.a, 3)
      const { account } = await lived(token)
      const bob = openAccount(3, 'bob')
      await scene.apply(scene.a, partOf(token, bob))
      const erased = eraseAccount(account)
      const credit = creditAccount(bob.account, 'k')
      await scene.apply(scene.a, partOf(token, erased, credit))
      const refused = statusRefused(erased.account)
      await scene.apply(scene.a, partOf(token, refused))
      expect(await scene.stateOf(scene.b, account)).toEqual(refused.account)
      expect(await scene.stateOf(scene.b, bob.account)).toEqual(credit.account)
      const key = { shardId: 3, accountId: 'bob', idempotencyKey: 'k', operation: 'transaction' } as const
      expect((await scene.ask(scene.b, { keys: [key] })).keys.size).toBe(1)
    })
  })
}
