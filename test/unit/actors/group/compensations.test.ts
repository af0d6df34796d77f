/** An administrator reverts each transaction of a linked group once, on both sides, or gets the failure (G3). */
import { beforeEach, describe, expect, test } from 'vitest'
import { MAX_COMPENSATIONS } from '../../../../actors/group/judgement.ts'
import { groupAddress } from '../../../../actors/address.ts'
import { registerGroupCommand, revertGroupCommand } from '../../../support/accounts.ts'
import { ADMIN, codeOf, free, GROUP, legOf, termsOf, World } from '../../../model/mini-clients.ts'
import { failures, IN, OUT } from './agreed-groups.ts'

let ledger: World

beforeEach(() => {
  ledger = new World()
  ledger.open('ann', 'bob')
  ledger.fund('ann', '10')
})

function undo(...txnIds: readonly string[]) {
  return ledger.revert(GROUP, { caller: ADMIN, txnIds })
}

function transferred(amount = '4') {
  const fields = { accountId: 'ann', type: 'transfer', amount, toAccountId: 'bob', groupId: GROUP } as const
  const { txnId, counterTxnId } = ledger.settled(fields)
  return { sent: txnId, received: counterTxnId ?? '' }
}

describe('a linked group', () => {
  test('takes back at the boundary what came in over it, and gives back what left', () => {
    const credit = ledger.submit({ accountId: 'bob', amount: '5', groupId: GROUP })
    const debit = ledger.submit({ accountId: 'ann', type: 'debit', amount: '3', groupId: GROUP })
    expect(undo(credit, debit)).toMatchObject({ kind: 'group_reverting', group: { status: 'linked' } })
    expect(ledger.balance('ann')).toEqual(free('10'))
    expect(ledger.balance('bob')).toEqual(free('0'))
    expect(ledger.orderedOn('bob')).toMatchObject([{ type: 'debit', amount: '5', compensates: credit, groupId: GROUP }])
    expect(ledger.orderedOn('ann')).toMatchObject([{ type: 'credit', amount: '3', compensates: debit, groupId: GROUP }])
    expect(ledger.groupSeen(GROUP)).toMatchObject({
      status: 'linked',
      termsHash: null,
      compensations: [{ compensates: credit }, { compensates: debit }],
      partialFailures: [],
    })
  })

  test('fails with insufficient_funds where a credit has been spent, and undoes the others', () => {
    const spent = ledger.submit({ accountId: 'bob', amount: '5', groupId: GROUP })
    const debit = ledger.submit({ accountId: 'ann', type: 'debit', amount: '3', groupId: GROUP })
    ledger.submit({ accountId: 'bob', type: 'debit', amount: '0.01' })
    undo(spent, debit)
    expect(failures(ledger)).toEqual([[spent, 'insufficient_funds']])
    expect(ledger.balance('ann')).toEqual(free('10'))
    expect(ledger.balance('bob')).toEqual(free('4.99'))
    ledger.fund('bob', '1')
    undo(spent)
    expect(failures(ledger)).toEqual([])
    expect(ledger.balance('bob')).toEqual(free('0.99'))
  })

  test.for(['sent', 'received'] as const)('undoes a transfer named by the side that %s it, on both', (side) => {
    const transfer = transferred()
    undo(transfer[side])
    expect(ledger.balance('ann')).toEqual(free('10'))
    expect(ledger.balance('bob')).toEqual(free('0'))
    const [, back] = ledger.orderedOn('bob')
    const [came] = ledger.orderedOn('ann')
    expect(back).toMatchObject({
      type: 'debit',
      status: 'completed',
      compensates: transfer.received,
      toAccountId: 'ann',
      counterTxnId: came?.txnId,
    })
    expect(came).toMatchObject({
      type: 'credit',
      compensates: transfer.sent,
      fromAccountId: 'bob',
      counterTxnId: back?.txnId,
    })
    expect(ledger.transaction(transfer.sent).compensatedBy).toBe(came?.txnId)
    expect(ledger.transaction(transfer.received).compensatedBy).toBe(back?.txnId)
    expect(ledger.groupSeen(GROUP)?.compensations).toEqual([
      { compensates: transfer.received, txnId: back?.txnId },
      { compensates: transfer.sent, txnId: came?.txnId },
    ])
  })

  test('reverts a transaction once although the request names it twice or by both sides', () => {
    const { sent, received } = transferred()
    undo(sent, sent)
    undo(sent)
    expect(failures(ledger)).toEqual([])
    undo(received)
    expect(failures(ledger)).toEqual([[received, 'already_compensated']])
    expect(ledger.balance('ann')).toEqual(free('10'))
    const again = transferred('2')
    undo(again.received, again.sent)
    expect(ledger.balance('ann')).toEqual(free('10'))
    expect(ledger.balance('bob')).toEqual(free('0'))
    expect(ledger.groupSeen(GROUP)?.compensations).toHaveLength(4)
  })

  test('gives a transfer back though its sender is frozen and refuses incoming value, and not once it is closed', () => {
    const { sent } = transferred()
    ledger.change('ann', { status: 'frozen', incoming: 'refuse' })
    undo(sent)
    expect(ledger.balance('ann')).toEqual(free('10'))
    ledger.change('ann', { status: 'active', incoming: 'accept' })
    const all = transferred('10')
    ledger.change('ann', { status: 'closed' })
    undo(all.sent)
    expect(failures(ledger)).toEqual([[all.sent, 'account_closed']])
    expect(ledger.balance('bob')).toEqual(free('10'))
    expect(ledger.account('bob').holds.size).toBe(0)
  })

  test('says insufficient_funds where a transfer has been spent by its receiver', () => {
    const { sent } = transferred()
    ledger.submit({ accountId: 'bob', type: 'debit', amount: '1' })
    undo(sent)
    expect(failures(ledger)).toEqual([[sent, 'insufficient_funds']])
    expect(ledger.balance('ann')).toEqual(free('6'))
    expect(ledger.balance('bob')).toEqual(free('3'))
  })

  test('says balance_limit where what left has no room to come back', () => {
    const debit = ledger.submit({ accountId: 'ann', type: 'debit', amount: '3', groupId: GROUP })
    ledger.fund('ann', '999999999999999991')
    undo(debit)
    expect(failures(ledger)).toEqual([[debit, 'balance_limit']])
  })

  test('undoes no mint, burn, exchange, failure, compensation, or transaction of another group', () => {
    ledger.issue({ issuer: 'ann', totalSupply: '10' })
    const gold = { accountId: 'ann', tokenId: 'GOLD', amount: '1', groupId: GROUP } as const
    const mint = ledger.settled({ ...gold, type: 'mint' }).txnId
    const burn = ledger.settled({ ...gold, type: 'burn' }).txnId
    const receive = { tokenId: 'BASE', amount: '1' }
    ledger.fund('bob', '5')
    const exchange = ledger.submit({ ...gold, type: 'exchange', toAccountId: 'bob', receive })
    const mirror = { tokenId: 'GOLD', amount: '1' }
    ledger.settled({
      ...gold,
      accountId: 'bob',
      tokenId: 'BASE',
      type: 'exchange',
      toAccountId: 'ann',
      receive: mirror,
    })
    const failed = ledger.submit({ ...gold, type: 'debit', amount: '100' })
    const elsewhere = ledger.fund('bob', '1')
    const debit = ledger.submit({ ...gold, type: 'debit' })
    undo(debit)
    const compensation = ledger.orderedOn('ann').at(-1)?.txnId ?? ''
    const before = [ledger.balance('ann', 'GOLD'), ledger.balance('ann'), ledger.balance('bob')]
    const named = [mint, burn, exchange, failed, elsewhere, compensation]
    undo(...named)
    expect(new Map(failures(ledger))).toEqual(new Map(named.map((txnId) => [txnId, 'not_compensable'])))
    expect([ledger.balance('ann', 'GOLD'), ledger.balance('ann'), ledger.balance('bob')]).toEqual(before)
  })

  test('undoes no pending transaction', () => {
    ledger.issue({ issuer: 'ann', totalSupply: '10' })
    const receive = { tokenId: 'BASE', amount: '1' }
    const gold = { accountId: 'ann', tokenId: 'GOLD', amount: '1', groupId: GROUP } as const
    const pending = ledger.submit({ ...gold, type: 'exchange', toAccountId: 'bob', receive })
    undo(pending)
    expect(failures(ledger)).toEqual([[pending, 'not_compensable']])
    expect(ledger.transaction(pending).status).toBe('pending')
  })

  test('is reverted by administrators, who name the transactions', () => {
    const debit = ledger.submit({ accountId: 'ann', type: 'debit', amount: '3', groupId: GROUP })
    expect(codeOf(ledger.revert(GROUP, { txnIds: [debit] }))).toBe('not_allowed')
    expect(codeOf(undo())).toBe('group_not_found')
    undo(debit)
    expect(codeOf(undo())).toBe('transaction_not_found')
    const many = Array.from({ length: MAX_COMPENSATIONS }, (_, index) => ({ txnId: `txn_${index}`, accountId: 'ann' }))
    const command = revertGroupCommand(GROUP, { caller: ADMIN, transactions: many })
    expect(ledger.ask(groupAddress(GROUP), command)).toMatchObject({ kind: 'refused', code: 'compensation_limit' })
  })

  test('with the longest list of transactions may be reverted again, which retries only what failed', () => {
    const spent = ledger.submit({ accountId: 'bob', amount: '5', groupId: GROUP })
    ledger.submit({ accountId: 'bob', type: 'debit', amount: '5' })
    const txnIds = [spent, ...Array.from({ length: MAX_COMPENSATIONS - 1 }, (_, index) => `txn_${index}`)]
    const transactions = txnIds.map((txnId) => ({ txnId, accountId: 'bob' }))
    const command = revertGroupCommand(GROUP, { caller: ADMIN, transactions })
    const asked = () => {
      const answer = ledger.ask(groupAddress(GROUP), command)
      ledger.drain()
      return answer
    }
    expect(asked()).toMatchObject({ kind: 'group_reverting' })
    expect(failures(ledger)).toContainEqual([spent, 'insufficient_funds'])
    ledger.fund('bob', '5')
    expect(asked()).toMatchObject({ kind: 'group_reverting' })
    expect(failures(ledger)).not.toContainEqual([spent, 'insufficient_funds'])
    expect(ledger.groupSeen(GROUP)?.compensations).toMatchObject([{ compensates: spent }])
  })

  test('stays linked: its ID cannot be registered', () => {
    undo(ledger.submit({ accountId: 'ann', type: 'debit', amount: '3', groupId: GROUP }))
    const terms = termsOf([OUT, IN])
    const command = registerGroupCommand(terms, { caller: ADMIN })
    expect(ledger.ask(groupAddress(GROUP), command)).toMatchObject({ code: 'group_exists' })
  })

  test('of an unknown account or transaction fails with not_compensable', () => {
    const transactions = [
      { txnId: 'txn_a', accountId: 'unknown' },
      { txnId: 'txn_b', accountId: 'ann' },
    ]
    ledger.ask(groupAddress(GROUP), revertGroupCommand(GROUP, { caller: ADMIN, transactions }))
    ledger.drain()
    expect(failures(ledger)).toEqual([
      ['txn_a', 'not_compensable'],
      ['txn_b', 'not_compensable'],
    ])
  })
})

test('a transaction that only links to the ID of a registered group is none of its legs, and is not undone with it', () => {
  ledger.open('cid')
  const terms = termsOf([OUT, IN])
  ledger.agree(terms)
  ledger.settled(legOf(terms, 0))
  const linked = ledger.submit({ accountId: 'cid', amount: '1', groupId: GROUP })
  ledger.revert(GROUP, { caller: ADMIN, txnIds: [linked] })
  expect(ledger.groupSeen(GROUP)?.compensations).toHaveLength(1)
  expect(ledger.transaction(linked).compensatedBy).toBe(null)
  expect(ledger.balance('cid')).toEqual(free('1'))
})
