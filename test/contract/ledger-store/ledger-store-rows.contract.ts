/** The part of the contract that is about what a batch writes and what is refused of it (D1, D2). Registered by `ledgerStoreContract`. */
import { BASE_UNIT } from '../../../actors/money.ts'
import { describe, expect, test } from 'vitest'
import { keyAddressOf } from '../../../runtime/ports/ledger-store.ts'
import { creditAccount, failAccount, openAccount, partOf, rotateAccount } from '../../support/postgres/ledger-rows.ts'
import { groupAddress, instanceAddress, tokenAddress } from '../../../actors/address.ts'
import { CLASS_ID, NFT_ID } from '../../support/postgres/ledger-rows-nfts.ts'
import { GROUP_ID } from '../../support/postgres/ledger-rows-values.ts'
import { committed, type Scene } from './ledger-store-scene.ts'

export function rowsContract(scene: Scene): void {
  describe('rows', () => {
    test('what was committed is what a look-up shows, field by field', async () => {
      const token = await scene.own(scene.a, 3)
      const open = openAccount(3, 'alice')
      await scene.apply(scene.a, partOf(token, open))
      expect(await scene.stateOf(scene.b, open.account)).toEqual(open.account)
      const credit = creditAccount(open.account, 'credit "1"')
      await scene.apply(scene.a, partOf(token, credit))
      const failed = failAccount(credit.account, 'debit \\1')
      await scene.apply(scene.a, partOf(token, failed))
      const rotated = rotateAccount(failed.account, 'rotation {1}')
      await scene.apply(scene.a, partOf(token, rotated))
      expect(await scene.stateOf(scene.b, open.account)).toEqual(rotated.account)
    })

    test('everything about one account may be in one batch, a new account included', async () => {
      const token = await scene.own(scene.a, 3)
      const open = openAccount(3, 'alice')
      const bob = openAccount(3, 'bob')
      await scene.apply(scene.a, partOf(token, open, bob))
      const credit = creditAccount(open.account, 'k1')
      const carol = openAccount(3, 'carol')
      await scene.apply(scene.a, partOf(token, credit, rotateAccount(bob.account, 'r1'), carol))
      const { accounts } = await scene.look(scene.a, open.account, bob.account, carol.account)
      expect([...accounts.values()].map((account) => account.version).toSorted((x, y) => x - y)).toEqual([1, 2, 2])
    })

    test('what does not exist is not in the answer', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      const answer = await scene.ask(scene.a, {
        accounts: [
          { shardId: 3, accountId: 'unknown' },
          { shardId: 4, accountId: alice.accountId },
        ],
        keys: [{ shardId: 3, accountId: alice.accountId, operation: 'transaction', idempotencyKey: 'unused' }],
        actors: [{ shardId: 3, address: groupAddress('none') }],
        transactions: [{ shardId: 3, txnId: 'txn_none' }],
        credits: [{ shardId: 3, accountId: alice.accountId, txnId: 'txn_none' }],
        groupUses: [{ shardId: 3, accountId: alice.accountId, groupId: GROUP_ID, type: 'credit', tokenId: BASE_UNIT }],
        tokens: [{ shardId: 3, address: tokenAddress('none') }],
        existing: [
          { shardId: 3, accountId: 'unknown' },
          { shardId: 4, accountId: alice.accountId },
        ],
        classes: [CLASS_ID],
        instances: [{ shardId: 3, address: instanceAddress(NFT_ID) }],
      })
      expect(Object.values(answer).map(({ size }) => size)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    })

    test('a used key shows what it did, and under which key it was signed, also after a rotation', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      const credit = creditAccount(alice, 'same')
      await scene.apply(scene.a, partOf(token, credit))
      const rotated = rotateAccount(credit.account, 'same')
      await scene.apply(scene.a, partOf(token, rotated))
      const key = { shardId: 3, accountId: alice.accountId, idempotencyKey: 'same' }
      const asTransaction = { ...key, operation: 'transaction' } as const
      const asRotation = { ...key, operation: 'key_rotation' } as const
      const { keys } = await scene.ask(scene.b, { keys: [asTransaction, asRotation] })
      const [write] = credit.rows.transactions
      const [operation] = rotated.rows.operations
      expect(keys.get(keyAddressOf(asTransaction))).toEqual({
        payloadHash: write?.transaction.payloadHash,
        key: alice.key,
        answer: {
          kind: 'accepted',
          receipt: {
            txnId: write?.transaction.txnId,
            accountId: alice.accountId,
            shardId: 3,
            enqueuedAtMs: write?.transaction.createdAtMs,
            groupId: null,
          },
          replayed: false,
          mismatch: false,
        },
      })
      expect(keys.get(keyAddressOf(asRotation))).toEqual({
        payloadHash: operation?.payloadHash,
        key: alice.key,
        answer: { kind: 'rotated', account: operation?.answer, replayed: false, mismatch: false },
      })
    })

    test('the last transaction ID of a shard is the largest that was committed in it', async () => {
      const token = await scene.own(scene.a, 3)
      const other = await scene.own(scene.a, 4)
      expect((await scene.run(scene.a.store.openShard(3))).lastTransactionId).toBeNull()
      const alice = await scene.opened(scene.a, token)
      const bob = await scene.opened(scene.a, other, 'bob')
      const first = creditAccount(alice, 'k1')
      const second = creditAccount(first.account, 'k2')
      const elsewhere = creditAccount(bob, 'k1')
      await scene.apply(scene.a, partOf(token, first), partOf(other, elsewhere))
      await scene.apply(scene.a, partOf(token, second))
      expect((await scene.run(scene.b.store.openShard(3))).lastTransactionId).toBe(
        second.rows.transactions[0]?.transaction.txnId,
      )
    })
  })

  describe('D1: a part is applied under its own token or not at all', () => {
    test('D1: a raised attempt fences what was computed under the one before', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      expect(await scene.run(scene.a.store.raiseAttempt(token))).toBe(true)
      expect(await scene.commit(scene.a, partOf(token, creditAccount(alice, 'k1')))).toEqual(committed())
      const raised = { ...token, attempt: token.attempt + 1 }
      await scene.apply(scene.a, partOf(raised, creditAccount(alice, 'k1')))
    })

    test('D1: a token is worth nothing in another session, though epoch and attempt are right', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      expect(await scene.commit(scene.b, partOf(token, creditAccount(alice, 'k1')))).toEqual(committed())
      expect(await scene.stateOf(scene.a, alice)).toEqual(alice)
    })

    test('D1: a token is worth nothing once the same session has lost the shard and taken it again', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      const between = await scene.own(scene.b, 3, token.epoch)
      const again = await scene.own(scene.a, 3, between.epoch)
      expect(await scene.commit(scene.a, partOf(token, creditAccount(alice, 'k1')))).toEqual(committed())
      expect(await scene.stateOf(scene.a, alice)).toEqual(alice)
      await scene.apply(scene.a, partOf(again, creditAccount(alice, 'k1')))
    })

    test('D1: a batch without rows is a check of its fences', async () => {
      const mine = await scene.own(scene.a, 3)
      const theirs = await scene.own(scene.b, 4)
      expect(await scene.commit(scene.a, partOf(mine), partOf({ ...theirs }), partOf({ ...mine, shardId: 5 }))).toEqual(
        committed(3),
      )
      expect(await scene.commit(scene.a)).toEqual(committed())
    })
  })
}
