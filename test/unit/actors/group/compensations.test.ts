/** An administrator reverts each transaction of a linked group once, on both sides, or gets the failure (G3). */
import { beforeEach, describe, expect, test } from 'vitest'
import { MAX_COMPENSATIONS } from '../../../../actors/group/judgement.ts'
import { groupAddress } from '../../../../actors/address.ts'
import { registerGroupCommand, revertGroupCommand } from '../../../support/accounts.ts'
import {
  ADMIN,
  agree,
  balance,
  change,
  codeOf,
  free,
  fund,
  GROUP,
  groupSeen,
  issue,
  legOf,
  open,
  orderedOn,
  revert,
  settled,
  submit,
  termsOf,
} from '../../../model/mini-clients.ts'
import { MiniLedger } from '../../../model/mini-ledger.ts'
import { failures, IN, OUT } from './agreed-groups.ts'

let ledger: MiniLedger

beforeEach(() => {
  ledger = new MiniLedger()
  open(ledger, 'ann', 'bob')
  fund(ledger, 'ann', '10')
})

function undo(...txnIds: readonly string[]) {
  return revert(ledger, GROUP, { caller: ADMIN, txnIds })
}

function transferred(amount = '4') {
  const fields = { accountId: 'ann', type: 'transfer', amount, toAccountId: 'bob', groupId: GROUP } as const
  const { txnId, counterTxnId } = settled(ledger, fields)
  return { sent: txnId, received: counterTxnId ?? '' }
}

describe('a linked group', () => {
  test('takes back at the boundary what came in over it, and gives back what left', () => {
    const credit = submit(ledger, { accountId: 'bob', amount: '5', groupId: GROUP })
    const debit = submit(ledger, { accountId: 'ann', type: 'debit', amount: '3', groupId: GROUP })
    expect(undo(credit, debit)).toMatchObject({ kind: 'group_reverting', group: { status: 'linked' } })
    expect(balance(ledger, 'ann')).toEqual(free('10'))
    expect(balance(ledger, 'bob')).toEqual(free('0'))
    expect(orderedOn(ledger, 'bob')).toMatchObject([
      { type: 'debit', amount: '5', compensates: credit, groupId: GROUP },
    ])
    expect(orderedOn(ledger, 'ann')).toMatchObject([
      { type: 'credit', amount: '3', compensates: debit, groupId: GROUP },
    ])
    expect(groupSeen(ledger, GROUP)).toMatchObject({
      status: 'linked',
      termsHash: null,
      compensations: [{ compensates: credit }, { compensates: debit }],
      partialFailures: [],
    })
  })

  test('fails with insufficient_funds where a credit has been spent, and undoes the others', () => {
    const spent = submit(ledger, { accountId: 'bob', amount: '5', groupId: GROUP })
    const debit = submit(ledger, { accountId: 'ann', type: 'debit', amount: '3', groupId: GROUP })
    submit(ledger, { accountId: 'bob', type: 'debit', amount: '0.01' })
    undo(spent, debit)
    expect(failures(ledger)).toEqual([[spent, 'insufficient_funds']])
    expect(balance(ledger, 'ann')).toEqual(free('10'))
    expect(balance(ledger, 'bob')).toEqual(free('4.99'))
    fund(ledger, 'bob', '1')
    undo(spent)
    expect(failures(ledger)).toEqual([])
    expect(balance(ledger, 'bob')).toEqual(free('0.99'))
  })

  test.for(['sent', 'received'] as const)('undoes a transfer named by the side that %s it, on both', (side) => {
    const transfer = transferred()
    undo(transfer[side])
    expect(balance(ledger, 'ann')).toEqual(free('10'))
    expect(balance(ledger, 'bob')).toEqual(free('0'))
    const [, back] = orderedOn(ledger, 'bob')
    const [came] = orderedOn(ledger, 'ann')
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
    expect(groupSeen(ledger, GROUP)?.compensations).toEqual([
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
    expect(balance(ledger, 'ann')).toEqual(free('10'))
    const again = transferred('2')
    undo(again.received, again.sent)
    expect(balance(ledger, 'ann')).toEqual(free('10'))
    expect(balance(ledger, 'bob')).toEqual(free('0'))
    expect(groupSeen(ledger, GROUP)?.compensations).toHaveLength(4)
  })

  test('gives a transfer back though its sender is frozen and refuses incoming value, and not once it is closed', () => {
    const { sent } = transferred()
    change(ledger, 'ann', { status: 'frozen', incoming: 'refuse' })
    undo(sent)
    expect(balance(ledger, 'ann')).toEqual(free('10'))
    change(ledger, 'ann', { status: 'active', incoming: 'accept' })
    const all = transferred('10')
    change(ledger, 'ann', { status: 'closed' })
    undo(all.sent)
    expect(failures(ledger)).toEqual([[all.sent, 'account_closed']])
    expect(balance(ledger, 'bob')).toEqual(free('10'))
    expect(ledger.account('bob').holds.size).toBe(0)
  })

  test('says insufficient_funds where a transfer has been spent by its receiver', () => {
    const { sent } = transferred()
    submit(ledger, { accountId: 'bob', type: 'debit', amount: '1' })
    undo(sent)
    expect(failures(ledger)).toEqual([[sent, 'insufficient_funds']])
    expect(balance(ledger, 'ann')).toEqual(free('6'))
    expect(balance(ledger, 'bob')).toEqual(free('3'))
  })

  test('says balance_limit where what left has no room to come back', () => {
    const debit = submit(ledger, { accountId: 'ann', type: 'debit', amount: '3', groupId: GROUP })
    fund(ledger, 'ann', '999999999999999991')
    undo(debit)
    expect(failures(ledger)).toEqual([[debit, 'balance_limit']])
  })

  test('undoes no mint, burn, exchange, failure, compensation, or transaction of another group', () => {
    issue(ledger, { issuer: 'ann', totalSupply: '10' })
    const gold = { accountId: 'ann', tokenId: 'GOLD', amount: '1', groupId: GROUP } as const
    const mint = settled(ledger, { ...gold, type: 'mint' }).txnId
    const burn = settled(ledger, { ...gold, type: 'burn' }).txnId
    const receive = { tokenId: 'BASE', amount: '1' }
    fund(ledger, 'bob', '5')
    const exchange = submit(ledger, { ...gold, type: 'exchange', toAccountId: 'bob', receive })
    const mirror = { tokenId: 'GOLD', amount: '1' }
    settled(ledger, {
      ...gold,
      accountId: 'bob',
      tokenId: 'BASE',
      type: 'exchange',
      toAccountId: 'ann',
      receive: mirror,
    })
    const failed = submit(ledger, { ...gold, type: 'debit', amount: '100' })
    const elsewhere = fund(ledger, 'bob', '1')
    const debit = submit(ledger, { ...gold, type: 'debit' })
    undo(debit)
    const compensation = orderedOn(ledger, 'ann').at(-1)?.txnId ?? ''
    const before = [balance(ledger, 'ann', 'GOLD'), balance(ledger, 'ann'), balance(ledger, 'bob')]
    const named = [mint, burn, exchange, failed, elsewhere, compensation]
    undo(...named)
    expect(new Map(failures(ledger))).toEqual(new Map(named.map((txnId) => [txnId, 'not_compensable'])))
    expect([balance(ledger, 'ann', 'GOLD'), balance(ledger, 'ann'), balance(ledger, 'bob')]).toEqual(before)
  })

  test('undoes no pending transaction', () => {
    issue(ledger, { issuer: 'ann', totalSupply: '10' })
    const receive = { tokenId: 'BASE', amount: '1' }
    const gold = { accountId: 'ann', tokenId: 'GOLD', amount: '1', groupId: GROUP } as const
    const pending = submit(ledger, { ...gold, type: 'exchange', toAccountId: 'bob', receive })
    undo(pending)
    expect(failures(ledger)).toEqual([[pending, 'not_compensable']])
    expect(ledger.transaction(pending).status).toBe('pending')
  })

  test('is reverted by administrators, who name the transactions', () => {
    const debit = submit(ledger, { accountId: 'ann', type: 'debit', amount: '3', groupId: GROUP })
    expect(codeOf(revert(ledger, GROUP, { txnIds: [debit] }))).toBe('not_allowed')
    expect(codeOf(undo())).toBe('group_not_found')
    undo(debit)
    expect(codeOf(undo())).toBe('transaction_not_found')
    const many = Array.from({ length: MAX_COMPENSATIONS }, (_, index) => ({ txnId: `txn_${index}`, accountId: 'ann' }))
    const command = revertGroupCommand(GROUP, { caller: ADMIN, transactions: many })
    expect(ledger.ask(groupAddress(GROUP), command)).toMatchObject({ kind: 'refused', code: 'compensation_limit' })
  })

  test('with the longest list of transactions may be reverted again, which retries only what failed', () => {
    const spent = submit(ledger, { accountId: 'bob', amount: '5', groupId: GROUP })
    submit(ledger, { accountId: 'bob', type: 'debit', amount: '5' })
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
    fund(ledger, 'bob', '5')
    expect(asked()).toMatchObject({ kind: 'group_reverting' })
    expect(failures(ledger)).not.toContainEqual([spent, 'insufficient_funds'])
    expect(groupSeen(ledger, GROUP)?.compensations).toMatchObject([{ compensates: spent }])
  })

  test('stays linked: its ID cannot be registered', () => {
    undo(submit(ledger, { accountId: 'ann', type: 'debit', amount: '3', groupId: GROUP }))
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
  open(ledger, 'cid')
  const terms = termsOf([OUT, IN])
  agree(ledger, terms)
  settled(ledger, legOf(terms, 0))
  const linked = submit(ledger, { accountId: 'cid', amount: '1', groupId: GROUP })
  revert(ledger, GROUP, { caller: ADMIN, txnIds: [linked] })
  expect(groupSeen(ledger, GROUP)?.compensations).toHaveLength(1)
  expect(ledger.transaction(linked).compensatedBy).toBe(null)
  expect(balance(ledger, 'cid')).toEqual(free('1'))
})
