/** A transfer completes on both sides or on neither, whatever the receiver replies (P1, S4, I4). */
import { describe, expect, test } from 'vitest'
import { isUuid } from '../../../../actors/identifiers.ts'
import {
  balance,
  change,
  codeOf,
  free,
  fund,
  GROUP,
  open,
  orderedOn,
  settled,
  submission,
  submit,
} from '../../../model/mini-clients.ts'
import { MiniLedger } from '../../../model/mini-ledger.ts'
import { START_MS } from '../../../support/accounts.ts'

const TRANSFER = { accountId: 'ann', type: 'transfer', amount: '4', toAccountId: 'bob' } as const

function annAndBob(): MiniLedger {
  const ledger = new MiniLedger()
  open(ledger, 'ann', 'bob')
  fund(ledger, 'ann', '10')
  return ledger
}

describe('a transfer', () => {
  test('is pending and reserved until its receiver decides; then both sides are completed', () => {
    const ledger = annAndBob()
    const txnId = submit(ledger, { ...TRANSFER, groupId: GROUP, metadata: { note: 'rent' } })
    expect(ledger.transaction(txnId)).toMatchObject({ status: 'pending', sequence: null, auditHash: null })
    expect(balance(ledger, 'ann')).toEqual({ balance: '10', available: '6', incoming: '0' })
    ledger.deliver()
    expect(balance(ledger, 'bob')).toEqual(free('4'))
    expect(balance(ledger, 'ann')).toEqual({ balance: '10', available: '6', incoming: '0' })
    ledger.drain()
    expect(balance(ledger, 'ann')).toEqual(free('6'))
    const [credit] = orderedOn(ledger, 'bob')
    expect(ledger.transaction(txnId)).toMatchObject({ status: 'completed', counterTxnId: credit?.txnId, sequence: 2 })
    expect(credit).toMatchObject({
      type: 'credit',
      amount: '4',
      status: 'completed',
      groupId: GROUP,
      fromAccountId: 'ann',
      counterTxnId: txnId,
      metadata: { note: 'rent' },
      origin: 'ledger',
    })
    expect(ledger.account('ann').holds.size).toBe(0)
  })

  test('names its other side in the entries of both chains', () => {
    const ledger = annAndBob()
    const { txnId, counterTxnId } = settled(ledger, { ...TRANSFER, amount: '4.00' })
    const payloadOf = (accountId: string): unknown => JSON.parse(ledger.entries.get(accountId)?.at(-1)?.payload ?? '')
    expect(payloadOf('ann')).toMatchObject({
      txn_id: txnId,
      amount: '4.00',
      balance_after: '6',
      available_after: '6',
      to_account_id: 'bob',
      counter_txn_id: counterTxnId,
    })
    expect(payloadOf('bob')).toMatchObject({
      txn_id: counterTxnId,
      amount: '4.00',
      balance_after: '4',
      available_after: '4',
      from_account_id: 'ann',
      counter_txn_id: txnId,
    })
  })

  test('without a group ID gets a new one, which its receipt and both sides name', () => {
    const ledger = annAndBob()
    const answer = submission(ledger, TRANSFER)
    const another = submission(ledger, TRANSFER)
    if (answer.kind !== 'accepted' || another.kind !== 'accepted') throw new Error('Not accepted.')
    const { groupId, txnId } = answer.receipt
    expect(isUuid(groupId ?? '')).toBe(true)
    expect(another.receipt.groupId).not.toBe(groupId)
    ledger.drain()
    expect(ledger.transaction(txnId).groupId).toBe(groupId)
    expect(orderedOn(ledger, 'bob')[0]?.groupId).toBe(groupId)
  })

  test('of more than is available fails at once; what others reserve is not available', () => {
    const ledger = annAndBob()
    submit(ledger, { ...TRANSFER, amount: '7' })
    const tooMuch = submit(ledger, { ...TRANSFER, amount: '3.000000000000000001' })
    expect(ledger.transaction(tooMuch)).toMatchObject({ status: 'failed', failure: { code: 'insufficient_funds' } })
    const debit = submit(ledger, { accountId: 'ann', type: 'debit', amount: '4' })
    expect(ledger.transaction(debit).failure?.code).toBe('insufficient_funds')
    ledger.drain()
    expect(balance(ledger, 'bob')).toEqual(free('7'))
    expect(orderedOn(ledger, 'bob')).toHaveLength(1)
  })

  test.for<[string, (ledger: MiniLedger) => unknown]>([
    ['account_closed', (ledger: MiniLedger) => change(ledger, 'bob', { status: 'closed' })],
    ['incoming_refused', (ledger: MiniLedger) => change(ledger, 'bob', { incoming: 'refuse' })],
    ['balance_limit', (ledger: MiniLedger) => fund(ledger, 'bob', '999999999999999996.1')],
  ])('that its receiver refuses with %s fails with that code and gives the reservation back', ([code, spoil]) => {
    const ledger = annAndBob()
    const txnId = submit(ledger, TRANSFER)
    spoil(ledger)
    const before = balance(ledger, 'bob')
    ledger.drain()
    expect(ledger.transaction(txnId)).toMatchObject({ status: 'failed', failure: { code }, sequence: null })
    expect(balance(ledger, 'ann')).toEqual(free('10'))
    expect(balance(ledger, 'bob')).toEqual(before)
    expect(ledger.account('ann')).toMatchObject({ failedCount: 1, sequence: 1 })
    expect(orderedOn(ledger, 'bob')).toEqual([])
  })

  test('fails as expired if it reaches its receiver late, and cannot expire after that', () => {
    const ledger = annAndBob()
    const late = submit(ledger, { ...TRANSFER, expiresAtMs: START_MS + 1_000 })
    // Its receiver's step takes a millisecond, and ends in the one that is named.
    ledger.nowMs = START_MS + 999
    ledger.drain()
    expect(ledger.transaction(late)).toMatchObject({ status: 'failed', failure: { code: 'expired' } })
    const inTime = submit(ledger, { ...TRANSFER, expiresAtMs: ledger.nowMs + 1_000 })
    ledger.deliver()
    ledger.pass(60_000)
    ledger.drain()
    expect(ledger.transaction(inTime).status).toBe('completed')
    expect(balance(ledger, 'ann')).toEqual(free('6'))
  })

  test('to an unknown account is refused and leaves its idempotency key unused', () => {
    const ledger = annAndBob()
    const fields = { ...TRANSFER, toAccountId: 'unknown', idempotencyKey: 'once' }
    expect(codeOf(submission(ledger, fields))).toBe('receiver_not_found')
    expect(settled(ledger, { ...TRANSFER, idempotencyKey: 'once' }).status).toBe('completed')
  })

  test('that is retried gets the first receipt and moves no value', () => {
    const ledger = annAndBob()
    const first = submission(ledger, { ...TRANSFER, idempotencyKey: 'once' })
    ledger.drain()
    const again = submission(ledger, { ...TRANSFER, idempotencyKey: 'once' })
    expect(again).toEqual({ ...first, replayed: true })
    expect(balance(ledger, 'bob')).toEqual(free('4'))
  })

  test('and a credit of the same account, asset and group ID are refused as a self transfer, whichever comes second', () => {
    const ledger = annAndBob()
    submit(ledger, { accountId: 'ann', type: 'credit', groupId: GROUP })
    expect(codeOf(submission(ledger, { ...TRANSFER, toAccountId: null, groupId: GROUP }))).toBe('self_transfer')
    submit(ledger, { accountId: 'bob', type: 'credit' })
    submit(ledger, { accountId: 'bob', type: 'transfer', groupId: GROUP, amount: '1' })
    expect(codeOf(submission(ledger, { accountId: 'bob', type: 'credit', groupId: GROUP }))).toBe('self_transfer')
    expect(codeOf(submission(ledger, { accountId: 'bob', type: 'debit', groupId: GROUP, amount: '1' }))).toBe(undefined)
  })

  test('that comes in under a group ID does not keep its receiver from transferring under it', () => {
    const ledger = annAndBob()
    settled(ledger, { ...TRANSFER, groupId: GROUP })
    const back = { accountId: 'bob', type: 'transfer', amount: '1', toAccountId: 'ann', groupId: GROUP } as const
    expect(settled(ledger, back).status).toBe('completed')
  })
})
