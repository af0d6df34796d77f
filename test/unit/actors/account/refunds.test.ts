/** D26: refunds return value of a received transfer, in parts, and never more than its amount. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Submission } from '../../../../actors/account/commands.ts'
import { ADMIN, free, GROUP, World } from '../../../model/mini-clients.ts'
import { failures } from '../group/agreed-groups.ts'

let ledger: World

beforeEach(() => {
  ledger = new World()
  ledger.open('ann', 'bob', 'eve')
  ledger.fund('ann', '10')
})

/** Ann pays Bob: the IDs of the transfer and of Bob's credit. */
function paid(amount = '4', fields: Partial<Submission> = {}) {
  const order = { accountId: 'ann', type: 'transfer', amount, toAccountId: 'bob', ...fields } as const
  const { txnId, counterTxnId } = ledger.settled(order)
  return { transfer: txnId, credit: counterTxnId ?? '' }
}

function refund(refunds: string, amount: string, fields: Partial<Submission> = {}) {
  return { accountId: 'bob', type: 'transfer', amount, refunds, ...fields } as const
}

function codeOf(fields: ReturnType<typeof refund>): string | undefined {
  return ledger.settled(fields).failure?.code
}

describe('a refund', () => {
  test('goes to the sender of the original, and both sides of both transfers show the link', () => {
    const { transfer, credit } = paid()
    const back = ledger.settled(refund(transfer, '1.5', { metadata: { reason: 'damaged' } }))
    expect(back).toMatchObject({ status: 'completed', toAccountId: 'ann', refunds: transfer, compensates: null })
    expect(ledger.lastEntry('bob')).toMatchObject({ txn_id: back.txnId, refunds: transfer, to_account_id: 'ann' })
    expect(ledger.lastEntry('ann')).toMatchObject({ txn_id: back.counterTxnId, refunds: transfer, type: 'credit' })
    expect(ledger.orderedOn('ann')).toMatchObject([{ refunds: transfer, metadata: { reason: 'damaged' } }])
    expect(ledger.transaction(transfer).refunded).toBe('1.5')
    expect(ledger.transaction(credit).refunded).toBe('1.5')
    expect(ledger.balance('ann')).toEqual(free('7.5'))
    expect(ledger.balance('bob')).toEqual(free('2.5'))
  })

  test('may name the credit in place of the transfer, and the sender', () => {
    const { transfer, credit } = paid()
    expect(ledger.settled(refund(credit, '1', { toAccountId: 'ann' }))).toMatchObject({ refunds: transfer })
    expect(ledger.transaction(transfer).refunded).toBe('1')
  })

  test('comes in parts up to the amount of the original', () => {
    const { transfer, credit } = paid()
    ledger.fund('bob', '10')
    expect(codeOf(refund(transfer, '4.000000000000000001'))).toBe('refund_exceeds_original')
    expect(codeOf(refund(transfer, '2.5'))).toBeUndefined()
    expect(codeOf(refund(credit, '1.6'))).toBe('refund_exceeds_original')
    expect(codeOf(refund(credit, '1.5'))).toBeUndefined()
    expect(codeOf(refund(transfer, '0.1'))).toBe('refund_exceeds_original')
    expect(ledger.transaction(credit).refunded).toBe('4')
    expect(ledger.balance('bob')).toEqual(free('10'))
  })

  test('counts while it is pending, and no longer once it has failed', () => {
    const { transfer, credit } = paid()
    const pending = ledger.submit(refund(transfer, '3'))
    const second = ledger.submit(refund(transfer, '2'))
    expect(ledger.transaction(second).failure?.code).toBe('refund_exceeds_original')
    ledger.change('ann', { incoming: 'refuse' })
    ledger.drain()
    expect(ledger.transaction(pending).failure?.code).toBe('incoming_refused')
    expect(ledger.transaction(credit).refunded).toBeNull()
    ledger.change('ann', { incoming: 'accept' })
    expect(codeOf(refund(transfer, '4'))).toBeUndefined()
    expect(ledger.transaction(credit).refunded).toBe('4')
  })

  test('adds up where several are pending at once', () => {
    const { transfer, credit } = paid()
    const parts = ['1', '1', '2'].map((amount) => ledger.submit(refund(transfer, amount)))
    expect(codeOf(refund(transfer, '0.5'))).toBe('refund_exceeds_original')
    ledger.drain()
    expect(parts.map((txnId) => ledger.transaction(txnId).status)).toEqual(['completed', 'completed', 'completed'])
    expect([transfer, credit].map((txnId) => ledger.transaction(txnId).refunded)).toEqual(['4', '4'])
  })

  test('needs an available balance', () => {
    const { transfer, credit } = paid()
    ledger.submit({ accountId: 'bob', type: 'debit', amount: '3.5' })
    expect(codeOf(refund(transfer, '1'))).toBe('insufficient_funds')
    expect(ledger.transaction(credit).refunded).toBeNull()
  })

  test('may itself be refunded by its receiver', () => {
    const { transfer } = paid()
    const back = ledger.settled(refund(transfer, '3'))
    expect(codeOf(refund(back.txnId, '2', { accountId: 'ann' }))).toBeUndefined()
    expect(ledger.balance('bob')).toEqual(free('3'))
    expect(ledger.transaction(transfer).refunded).toBe('3')
  })
})

describe('a refund fails', () => {
  test.for(['refund_original_not_found'])('with %s where the account received no such transfer', (code) => {
    const { transfer } = paid()
    const credit = ledger.fund('bob', '5')
    const toEve = ledger.settled({ accountId: 'ann', type: 'transfer', amount: '1', toAccountId: 'eve' })
    for (const refunds of [credit, toEve.txnId, toEve.counterTxnId ?? '', 'txn_unknown']) {
      const failed = ledger.settled(refund(refunds, '1'))
      expect(failed).toMatchObject({ failure: { code }, refunds, toAccountId: null })
    }
    expect(codeOf(refund(transfer, '1', { accountId: 'ann' }))).toBe(code)
  })

  test('with refund_mismatch for another asset or receiver', () => {
    ledger.issue({ tokenId: 'GOLD', issuer: 'bob', totalSupply: '5' })
    const { transfer } = paid()
    expect(codeOf(refund(transfer, '1', { tokenId: 'GOLD' }))).toBe('refund_mismatch')
    expect(codeOf(refund(transfer, '1', { toAccountId: 'eve' }))).toBe('refund_mismatch')
  })
})

describe('a compensation and a refund', () => {
  test('exclude each other, whichever comes first', () => {
    const first = paid('2', { groupId: GROUP })
    const second = paid('3', { groupId: GROUP })
    expect(codeOf(refund(first.transfer, '1'))).toBeUndefined()
    ledger.revert(GROUP, { caller: ADMIN, txnIds: [first.transfer, second.credit] })
    expect(failures(ledger)).toEqual([[first.transfer, 'refunded']])
    expect(ledger.transaction(second.transfer).compensatedBy).not.toBeNull()
    expect(codeOf(refund(second.transfer, '1'))).toBe('already_compensated')
    expect(ledger.balance('ann')).toEqual(free('9'))
  })

  test('a pending refund prevents a compensation', () => {
    const { transfer, credit } = paid('2', { groupId: GROUP })
    ledger.submit(refund(transfer, '1'))
    ledger.revert(GROUP, { caller: ADMIN, txnIds: [credit] })
    expect(failures(ledger)).toEqual([[credit, 'refunded']])
  })

  test('a refund is not compensable, nor is the credit of a compensation refundable', () => {
    const { transfer } = paid('2', { groupId: GROUP })
    const back = ledger.settled(refund(transfer, '1', { groupId: GROUP }))
    const named = [back.txnId, back.counterTxnId ?? '']
    ledger.revert(GROUP, { caller: ADMIN, txnIds: named })
    expect(failures(ledger)).toEqual(named.map((txnId) => [txnId, 'not_compensable']))
    const undone = paid('2', { groupId: GROUP })
    ledger.revert(GROUP, { caller: ADMIN, txnIds: [undone.transfer] })
    const returned = ledger.transaction(ledger.transaction(undone.transfer).compensatedBy ?? '')
    expect(codeOf(refund(returned.txnId, '1', { accountId: 'ann' }))).toBe('refund_original_not_found')
  })
})
