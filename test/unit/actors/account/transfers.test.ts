/** A transfer completes on both sides or on neither, whatever the receiver replies (P1, S4, I4). */
import { describe, expect, test } from 'vitest'
import { isUuid } from '../../../../actors/identifiers.ts'
import { codeOf, free, GROUP, World } from '../../../model/mini-clients.ts'
import { START_MS } from '../../../support/accounts.ts'

const TRANSFER = { accountId: 'ann', type: 'transfer', amount: '4', toAccountId: 'bob' } as const

function annAndBob(): World {
  const ledger = new World()
  ledger.open('ann', 'bob')
  ledger.fund('ann', '10')
  return ledger
}

describe('a transfer', () => {
  test('is pending and reserved until its receiver decides; then both sides are completed', () => {
    const ledger = annAndBob()
    const txnId = ledger.submit({ ...TRANSFER, groupId: GROUP, metadata: { note: 'rent' } })
    expect(ledger.transaction(txnId)).toMatchObject({ status: 'pending', sequence: null, auditHash: null })
    expect(ledger.balance('ann')).toEqual({ balance: '10', available: '6', incoming: '0' })
    ledger.deliver()
    expect(ledger.balance('bob')).toEqual(free('4'))
    expect(ledger.balance('ann')).toEqual({ balance: '10', available: '6', incoming: '0' })
    ledger.drain()
    expect(ledger.balance('ann')).toEqual(free('6'))
    const [credit] = ledger.orderedOn('bob')
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
    const { txnId, counterTxnId } = ledger.settled({ ...TRANSFER, amount: '4.00' })
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
    const answer = ledger.submission(TRANSFER)
    const another = ledger.submission(TRANSFER)
    if (answer.kind !== 'accepted' || another.kind !== 'accepted') throw new Error('Not accepted.')
    const { groupId, txnId } = answer.receipt
    expect(isUuid(groupId ?? '')).toBe(true)
    expect(another.receipt.groupId).not.toBe(groupId)
    ledger.drain()
    expect(ledger.transaction(txnId).groupId).toBe(groupId)
    expect(ledger.orderedOn('bob')[0]?.groupId).toBe(groupId)
  })

  test('of more than is available fails at once; what others reserve is not available', () => {
    const ledger = annAndBob()
    ledger.submit({ ...TRANSFER, amount: '7' })
    const tooMuch = ledger.submit({ ...TRANSFER, amount: '3.000000000000000001' })
    expect(ledger.transaction(tooMuch)).toMatchObject({ status: 'failed', failure: { code: 'insufficient_funds' } })
    const debit = ledger.submit({ accountId: 'ann', type: 'debit', amount: '4' })
    expect(ledger.transaction(debit).failure?.code).toBe('insufficient_funds')
    ledger.drain()
    expect(ledger.balance('bob')).toEqual(free('7'))
    expect(ledger.orderedOn('bob')).toHaveLength(1)
  })

  test.for<[string, (ledger: World) => unknown]>([
    ['account_closed', (ledger: World) => ledger.change('bob', { status: 'closed' })],
    ['incoming_refused', (ledger: World) => ledger.change('bob', { incoming: 'refuse' })],
    ['balance_limit', (ledger: World) => ledger.fund('bob', '999999999999999996.1')],
  ])('that its receiver refuses with %s fails with that code and gives the reservation back', ([code, spoil]) => {
    const ledger = annAndBob()
    const txnId = ledger.submit(TRANSFER)
    spoil(ledger)
    const before = ledger.balance('bob')
    ledger.drain()
    expect(ledger.transaction(txnId)).toMatchObject({ status: 'failed', failure: { code }, sequence: null })
    expect(ledger.balance('ann')).toEqual(free('10'))
    expect(ledger.balance('bob')).toEqual(before)
    expect(ledger.account('ann')).toMatchObject({ failedCount: 1, sequence: 1 })
    expect(ledger.orderedOn('bob')).toEqual([])
  })

  test('fails as expired if it reaches its receiver late, and cannot expire after that', () => {
    const ledger = annAndBob()
    const late = ledger.submit({ ...TRANSFER, expiresAtMs: START_MS + 1_000 })
    // Its receiver's step takes a millisecond, and ends in the one that is named.
    ledger.nowMs = START_MS + 999
    ledger.drain()
    expect(ledger.transaction(late)).toMatchObject({ status: 'failed', failure: { code: 'expired' } })
    const inTime = ledger.submit({ ...TRANSFER, expiresAtMs: ledger.nowMs + 1_000 })
    ledger.deliver()
    ledger.pass(60_000)
    ledger.drain()
    expect(ledger.transaction(inTime).status).toBe('completed')
    expect(ledger.balance('ann')).toEqual(free('6'))
  })

  test('to an unknown account is refused and leaves its idempotency key unused', () => {
    const ledger = annAndBob()
    const fields = { ...TRANSFER, toAccountId: 'unknown', idempotencyKey: 'once' }
    expect(codeOf(ledger.submission(fields))).toBe('receiver_not_found')
    expect(ledger.settled({ ...TRANSFER, idempotencyKey: 'once' }).status).toBe('completed')
  })

  test('that is retried gets the first receipt and moves no value', () => {
    const ledger = annAndBob()
    const first = ledger.submission({ ...TRANSFER, idempotencyKey: 'once' })
    ledger.drain()
    const again = ledger.submission({ ...TRANSFER, idempotencyKey: 'once' })
    expect(again).toEqual({ ...first, replayed: true })
    expect(ledger.balance('bob')).toEqual(free('4'))
  })

  test('and a credit of the same account, asset and group ID are refused as a self transfer, whichever comes second', () => {
    const ledger = annAndBob()
    ledger.submit({ accountId: 'ann', type: 'credit', groupId: GROUP })
    expect(codeOf(ledger.submission({ ...TRANSFER, toAccountId: null, groupId: GROUP }))).toBe('self_transfer')
    ledger.submit({ accountId: 'bob', type: 'credit' })
    ledger.submit({ accountId: 'bob', type: 'transfer', groupId: GROUP, amount: '1' })
    expect(codeOf(ledger.submission({ accountId: 'bob', type: 'credit', groupId: GROUP }))).toBe('self_transfer')
    expect(codeOf(ledger.submission({ accountId: 'bob', type: 'debit', groupId: GROUP, amount: '1' }))).toBe(undefined)
  })

  test('that comes in under a group ID does not keep its receiver from transferring under it', () => {
    const ledger = annAndBob()
    ledger.settled({ ...TRANSFER, groupId: GROUP })
    const back = { accountId: 'bob', type: 'transfer', amount: '1', toAccountId: 'ann', groupId: GROUP } as const
    expect(ledger.settled(back).status).toBe('completed')
  })
})
