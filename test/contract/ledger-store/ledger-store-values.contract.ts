/** The part of the contract that is about holds and about transactions that are not final at once. Registered by `ledgerStoreContract`. */
import { describe, expect, test } from 'vitest'
import type { AccountState } from '../../../actors/account/state.ts'
import { BASE_UNIT, parseQuantity } from '../../../actors/money.ts'
import {
  type CreditName,
  creditNameOf,
  groupUseAddressOf,
  type ShardToken,
} from '../../../runtime/ports/ledger-store.ts'
import {
  type Change,
  creditAccount,
  failAccount,
  NO_ROWS,
  partOf,
  partWith,
  type Rows,
} from '../../support/postgres/ledger-rows.ts'
import {
  concludeTransfer,
  dropHolds,
  failTransfer,
  GROUP_ID,
  keepHolds,
  legHold,
  pendTransfer,
  TERMS_HASH,
} from '../../support/postgres/ledger-rows-values.ts'
import { committed, type Scene } from './ledger-store-scene.ts'

interface Pending {
  readonly token: ShardToken
  readonly before: AccountState
  readonly change: Change
  readonly txnId: string
}

/** A transfer of alice's that its receiver has not decided, in shard 3. */
async function pendingTransfer(scene: Scene): Promise<Pending> {
  const token = await scene.own(scene.a, 3)
  const credit = creditAccount(await scene.opened(scene.a, token), 'credit')
  await scene.apply(scene.a, partOf(token, credit))
  const change = pendTransfer(credit.account, 'transfer')
  await scene.apply(scene.a, partOf(token, change))
  return { token, before: credit.account, change, txnId: txnIdOf(change.rows) }
}

function txnIdOf({ transactions }: Rows): string {
  return transactions[0]?.transaction.txnId ?? ''
}

function compensated(txnId: string, compensatedBy: string): Pick<Rows, 'transactionChanges'> {
  return { transactionChanges: [{ txnId, finished: null, compensatedBy }] }
}

function nameOf(accountId: string, txnId: string): CreditName {
  return { shardId: 3, accountId, txnId }
}

/** The account's credit of a transfer with this ID. */
function creditOfTransfer(before: AccountState, transfer: string) {
  const { account, rows } = creditAccount(before, `§transfer ${transfer}`)
  const transactions = rows.transactions.map(({ transaction, receipt }) => ({
    transaction: { ...transaction, origin: 'ledger' as const, counterTxnId: transfer, fromAccountId: 'sender' },
    receipt,
  }))
  return { account, credit: { account, rows: { ...rows, transactions } } }
}

export function valuesContract(scene: Scene): void {
  const transaction = async (txnId: string) =>
    (await scene.ask(scene.b, { transactions: [{ shardId: 3, txnId }] })).transactions.get(txnId)

  describe('holds and room', () => {
    test('what an account has unfinished, and the room it keeps, is what a look-up shows, field by field', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      const pending = pendTransfer(creditAccount(alice, 'unwritten').account, 'transfer')
      await scene.apply(scene.a, partOf(token, creditAccount(alice, 'credit')))
      await scene.apply(scene.a, partOf(token, pending))
      const issue = { kind: 'issue', tokenId: 'EUR', totalSupply: '999999999999999999.999999999999999999' } as const
      const held = keepHolds(pending.account, legHold(), legHold({ leg: 1, state: 'expected', txnId: null }), issue)
      await scene.apply(scene.a, partOf(token, held))
      const seen = await scene.stateOf(scene.b, alice)
      expect(new Map(seen?.holds)).toEqual(new Map(held.account.holds))
      expect(seen?.holds.size).toBe(4)
      expect(seen?.balances.get('EUR')).toEqual(pending.account.balances.get('EUR'))
      expect(seen?.balances.get('EUR')?.updatedAtMs).toBe(0)
      expect(seen?.balances.get(BASE_UNIT)?.reserved).toBe(parseQuantity('1'))
    })

    test('a hold is what it was written as last, until it is removed', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      const held = keepHolds(alice, legHold({ state: 'expected', txnId: null }), legHold({ leg: 1 }))
      await scene.apply(scene.a, partOf(token, held))
      const replaced = keepHolds(held.account, legHold())
      await scene.apply(scene.a, partOf(token, replaced))
      expect(await scene.stateOf(scene.b, alice)).toEqual(replaced.account)
      const dropped = dropHolds(replaced.account, `${GROUP_ID} 0 own`)
      await scene.apply(scene.a, partOf(token, dropped))
      expect([...((await scene.stateOf(scene.b, alice))?.holds.keys() ?? [])]).toEqual([`${GROUP_ID} 1 own`])
    })

    test('removing a hold that was never written is no failure: it was made within the batch', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      const dropped = dropHolds(alice, 'never')
      await scene.apply(scene.a, partOf(token, dropped))
      expect(await scene.stateOf(scene.b, alice)).toEqual(dropped.account)
    })

    test('holds of the same name at other accounts stay', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = keepHolds(await scene.opened(scene.a, token), legHold())
      const bob = keepHolds(await scene.opened(scene.a, token, 'bob'), legHold())
      await scene.apply(scene.a, partOf(token, alice, bob))
      await scene.apply(scene.a, partOf(token, dropHolds(alice.account, `${GROUP_ID} 0 own`)))
      expect(await scene.stateOf(scene.b, bob.account)).toEqual(bob.account)
    })
  })

  describe('transactions that others decide on', () => {
    test('a pending one is shown as it is, and its key as used', async () => {
      const { change, txnId } = await pendingTransfer(scene)
      expect(await scene.stateOf(scene.b, change.account)).toEqual(change.account)
      expect(await transaction(txnId)).toEqual({
        txnId,
        accountId: 'alice',
        type: 'transfer',
        amount: '1',
        tokenId: BASE_UNIT,
        groupId: GROUP_ID,
        status: 'pending',
        toAccountId: 'receiver@elsewhere',
        fromAccountId: null,
        receive: { tokenId: 'EUR', amount: '0.000000000000000001' },
        compensates: null,
        refunds: null,
        counterTxnId: null,
        compensatedBy: null,
        refunded: null,
        termsHash: TERMS_HASH,
      })
      const key = { shardId: 3, accountId: 'alice', operation: 'transaction', idempotencyKey: 'transfer' } as const
      expect((await scene.ask(scene.b, { keys: [key] })).keys.size).toBe(1)
    })

    test('what it was decided to is shown, with the other side', async () => {
      const { token, change, txnId } = await pendingTransfer(scene)
      const pending = await transaction(txnId)
      const concluded = concludeTransfer(change.account, txnId)
      await scene.apply(scene.a, partOf(token, concluded))
      expect(await scene.stateOf(scene.b, change.account)).toEqual(concluded.account)
      expect(await transaction(txnId)).toEqual({
        ...pending,
        status: 'completed',
        counterTxnId: concluded.record.counterTxnId,
      })
    })

    test('one that failed is shown so', async () => {
      const { token, change, txnId } = await pendingTransfer(scene)
      await scene.apply(scene.a, partOf(token, failTransfer(change.account, txnId)))
      expect(await transaction(txnId)).toMatchObject({ status: 'failed', counterTxnId: null })
    })

    test('a compensation is noted, in the change that ends the transaction or in one of its own', async () => {
      const { token, before, change, txnId } = await pendingTransfer(scene)
      const concluded = concludeTransfer(change.account, txnId)
      const changes = concluded.rows.transactionChanges.map((end) => ({ ...end, compensatedBy: 'txn_back' }))
      await scene.apply(scene.a, partWith(token, { ...concluded.rows, transactionChanges: changes }))
      expect(await transaction(txnId)).toMatchObject({ status: 'completed', compensatedBy: 'txn_back' })
      const plain = creditAccount({ ...concluded.account, balances: before.balances }, 'plain')
      await scene.apply(scene.a, partOf(token, plain))
      const undone = await transaction(txnIdOf(plain.rows))
      expect(undone).toMatchObject({ status: 'completed', compensatedBy: null, termsHash: null, receive: null })
      await scene.apply(scene.a, partWith(token, compensated(txnIdOf(plain.rows), 'txn_undo')))
      expect(await transaction(txnIdOf(plain.rows))).toEqual({ ...undone, compensatedBy: 'txn_undo' })
    })

    test('what undoes another transaction, and whom it came from, is shown', async () => {
      const token = await scene.own(scene.a, 3)
      const { account, rows } = creditAccount(await scene.opened(scene.a, token), 'k1')
      const given = { compensates: 'txn_undone', fromAccountId: 'sender@elsewhere', origin: 'ledger' } as const
      const transactions = rows.transactions.map((write) => ({
        ...write,
        transaction: { ...write.transaction, ...given },
      }))
      await scene.apply(scene.a, partOf(token, { account, rows: { ...rows, transactions } }))
      const { origin: _origin, ...shown } = given
      expect(await transaction(txnIdOf(rows))).toMatchObject(shown)
    })

    test('D2: a look-up and a change find a transaction in its own shard alone', async () => {
      const { txnId } = await pendingTransfer(scene)
      const other = await scene.own(scene.a, 4)
      expect((await scene.ask(scene.b, { transactions: [{ shardId: 4, txnId }] })).transactions.size).toBe(0)
      await scene.refuse(scene.a, partWith(other, compensated(txnId, 'txn_back')))
      expect(await transaction(txnId)).toMatchObject({ compensatedBy: null })
    })
  })

  describe('refunds', () => {
    test('a look-up finds the credit of a transfer by either ID, with the sum of its refunds', async () => {
      const token = await scene.own(scene.a, 3)
      const alice = await scene.opened(scene.a, token)
      const transfer = 'txn_01M80E1PV6000010W1DNTF3NMN'
      const { account, credit } = creditOfTransfer(alice, transfer)
      await scene.apply(scene.a, partOf(token, credit))
      const other = creditAccount(account, 'another')
      await scene.apply(scene.a, partOf(token, other))
      const txnId = txnIdOf(credit.rows)
      const names = [transfer, txnId, txnIdOf(other.rows), 'txn_none'].map((named) => nameOf('alice', named))
      const bobs = [nameOf('bob', transfer), nameOf('bob', txnId), { ...nameOf('alice', transfer), shardId: 4 }]
      const found = async () => (await scene.ask(scene.b, { credits: [...names, ...bobs] })).credits
      const known = names.slice(0, 2).map(creditNameOf)
      expect([...(await found()).keys()].toSorted()).toEqual(known.toSorted())
      expect((await found()).get(known[0] ?? '')).toMatchObject({ txnId, counterTxnId: transfer, refunded: null })
      for (const refunded of ['0.5', '1.25']) {
        await scene.apply(scene.a, partWith(token, { refunds: [{ txnId, accountId: 'alice', refunded }] }))
        for (const name of known) expect((await found()).get(name)).toMatchObject({ txnId, refunded })
        expect(await transaction(txnId)).toMatchObject({ refunded })
      }
    })

    test('the sum belongs to a final transaction of the shard', async () => {
      const { token, txnId } = await pendingTransfer(scene)
      for (const refunded of [txnId, 'txn_none']) {
        const refunds = [{ txnId: refunded, accountId: 'alice', refunded: '1' }]
        await scene.refuse(scene.a, partWith(token, { refunds }))
      }
      expect(await transaction(txnId)).toMatchObject({ refunded: null })
    })
  })

  describe('what a look-up tells of others', () => {
    test('the uses of a group ID are those of clients on that account', async () => {
      const { token, change } = await pendingTransfer(scene)
      const bob = await scene.opened(scene.a, token, 'bob')
      const inGroup = (
        { account, rows }: Change,
        fields: { readonly origin?: 'ledger'; readonly tokenId?: string },
      ) => ({
        account,
        rows: {
          ...rows,
          transactions: rows.transactions.map((write) => ({
            ...write,
            transaction: { ...write.transaction, groupId: GROUP_ID, ...fields },
          })),
        },
      })
      const first = inGroup(creditAccount(change.account, 'k1'), { tokenId: 'EUR' })
      const second = inGroup(failAccount(first.account, 'k2'), {})
      const third = inGroup(creditAccount(second.account, 'k3'), { origin: 'ledger' })
      const fourth = creditAccount(third.account, 'k4')
      for (const use of [first, second, third, fourth]) await scene.apply(scene.a, partOf(token, use))
      await scene.apply(scene.a, partOf(token, inGroup(creditAccount(bob, 'k1'), { tokenId: 'USD' })))
      const address = { shardId: 3, accountId: 'alice', groupId: GROUP_ID }
      const elsewhere = { ...address, groupId: '00000000-0000-4000-8000-000000000000' }
      const kinds = [
        { type: 'credit', tokenId: 'EUR' },
        { type: 'transfer', tokenId: BASE_UNIT },
        { type: 'credit', tokenId: BASE_UNIT },
        { type: 'credit', tokenId: 'USD' },
        { type: 'debit', tokenId: BASE_UNIT },
      ] as const
      const { groupUses } = await scene.ask(scene.b, {
        groupUses: [address, elsewhere].flatMap((at) => kinds.map((kind) => ({ ...at, ...kind }))),
      })
      expect([...groupUses.keys()]).toEqual([groupUseAddressOf(address)])
      const uses = groupUses.get(groupUseAddressOf(address))?.map(({ type, tokenId }) => `${type} ${tokenId}`)
      // One that failed counts as well: what the ledger refuses then, it refuses clearly.
      expect(uses?.toSorted()).toEqual(['credit EUR', `debit ${BASE_UNIT}`, `transfer ${BASE_UNIT}`])
    })

    test('the existence of an account is visible from every shard', async () => {
      const token = await scene.own(scene.a, 3)
      await scene.opened(scene.a, token)
      const existing = [
        { shardId: 3, accountId: 'alice' },
        { shardId: 3, accountId: 'bob' },
        { shardId: 4, accountId: 'alice' },
      ]
      expect((await scene.ask(scene.b, { existing })).existing).toEqual(new Set(['3 alice']))
    })
  })

  describe('the boundary', () => {
    test('D1: what crossed it is summed by token, over committed shards and applied batches alone', async () => {
      const mine = await scene.own(scene.a, 3)
      const also = await scene.own(scene.a, 4)
      const theirs = await scene.own(scene.b, 5)
      const crossing = (tokenId: string, credited: string, debited: string): Pick<Rows, 'boundary'> => ({
        boundary: [{ tokenId, credited, debited }],
      })
      await scene.apply(
        scene.a,
        partWith(mine, crossing('EUR', '10.5', '1'), crossing('USD', '0', '0.000000000000000001')),
        partWith(also, crossing('EUR', '0.5', '0')),
      )
      await scene.apply(scene.b, partWith(theirs, crossing('EUR', '0', '2')))
      const stale = partWith({ ...also, epoch: also.epoch + 1 }, crossing('EUR', '100', '100'))
      expect(await scene.commit(scene.a, partWith(mine, crossing('EUR', '1', '0')), stale)).toEqual(committed(3))
      const broken = { ...NO_ROWS, ...crossing('EUR', '1000', '0'), ...compensated('txn_absent', 'txn_1') }
      await scene.refuse(scene.a, partWith(mine, broken))
      const largest = '999999999999999999.999999999999999999'
      await scene.apply(
        scene.a,
        partWith(mine, crossing('BIG', largest, '0')),
        partWith(also, crossing('BIG', largest, '0')),
      )
      expect(await scene.run(scene.harness.boundaryTotals())).toEqual(
        new Map([
          ['EUR', { credited: '12', debited: '3' }],
          ['USD', { credited: '0', debited: '0.000000000000000001' }],
          ['BIG', { credited: '1999999999999999999.999999999999999998', debited: '0' }],
        ]),
      )
    })
  })
}
