/** An account keeps the room that it reserved for returning value, whatever its later status (A2, L3). */
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { Balances } from '../../../../actors/account/balances.ts'
import { MAX_PENDING } from '../../../../actors/account/submission.ts'
import { MAX_ASSETS } from '../../../../actors/account/turn.ts'
import { ZERO } from '../../../../actors/money.ts'
import { codeOf, free, GROUP, legOf, termsOf, World } from '../../../model/mini-clients.ts'
import { IN, OUT } from '../group/agreed-groups.ts'

const FULL = '999999999999999999'
const TRANSFER = { accountId: 'ann', type: 'transfer', amount: '4', toAccountId: 'bob' } as const

let ledger: World

beforeEach(() => {
  ledger = new World()
  ledger.open('ann', 'bob')
})

describe('room', () => {
  test('is reserved for the value that a failed transfer returns', () => {
    ledger.fund('ann', FULL)
    ledger.change('bob', { incoming: 'refuse' })
    const sent = ledger.submit(TRANSFER)
    expect(ledger.transaction(ledger.fund('ann', '1')).failure?.code).toBe('balance_limit')
    ledger.drain()
    expect(ledger.transaction(sent).failure?.code).toBe('incoming_refused')
    expect(ledger.balance('ann')).toEqual(free(FULL))
  })

  test('is reserved for the value that a reverted leg returns after it left the balance', () => {
    const terms = termsOf([OUT, IN])
    ledger.fund('ann', FULL)
    ledger.agree(terms)
    ledger.submit(legOf(terms, 0))
    ledger.drain()
    expect(ledger.balance('ann')).toEqual(free('999999999999999995'))
    expect(ledger.transaction(ledger.fund('ann', '1')).failure?.code).toBe('balance_limit')
    ledger.revert(GROUP)
    expect(ledger.balance('ann')).toEqual(free(FULL))
  })

  test('is reserved for an incoming leg once its account has signed it, and not before', () => {
    const terms = termsOf([OUT, IN])
    ledger.agree(terms)
    ledger.fund('bob', '999999999999999994')
    expect(ledger.transaction(ledger.fund('bob', '1')).status).toBe('completed')
    expect(ledger.settled(legOf(terms, 1)).status).toBe('completed')
    expect(ledger.transaction(ledger.fund('bob', '1')).failure?.code).toBe('balance_limit')
    ledger.revert(GROUP)
    expect(ledger.transaction(ledger.fund('bob', '4')).status).toBe('completed')
  })

  test('missing for a leg fails it, on its own side or as a receiver, and its group reverts', () => {
    ledger.fund('ann', '10')
    ledger.fund('bob', '999999999999999996')
    for (const legs of [
      [OUT, IN],
      [
        { account_id: 'ann', type: 'transfer', amount: '4', to_account_id: 'bob' },
        { account_id: 'bob', type: 'debit', amount: '1', boundary: true },
      ],
    ]) {
      const terms = termsOf(legs, { groupId: randomUUID() })
      ledger.agree(terms)
      const last = ledger.settled(legOf(terms, legs[0]?.type === 'debit' ? 1 : 0))
      expect(ledger.group(terms.groupId)).toMatchObject({ status: 'reverted', failure: { code: 'balance_limit' } })
      expect(last.compensatedBy === null).toBe(last.status === 'failed')
      expect([ledger.balance('ann'), ledger.balance('bob')]).toEqual([free('10'), free('999999999999999996')])
    }
  })

  test('for what an exchange and a mint bring counts as well', () => {
    ledger.issue({ issuer: 'ann', totalSupply: '0', decimals: 0 })
    const receive = { tokenId: 'GOLD', amount: '999999999999999998' }
    ledger.fund('ann', '1')
    ledger.submit({ accountId: 'ann', type: 'exchange', amount: '1', toAccountId: 'bob', receive, groupId: GROUP })
    const mint = { accountId: 'ann', type: 'mint', tokenId: 'GOLD' } as const
    ledger.submit({ ...mint, amount: '1' })
    expect(ledger.transaction(ledger.submit({ ...mint, amount: '1' })).failure?.code).toBe('balance_limit')
  })
})

describe(`${MAX_ASSETS} assets`, () => {
  /** An account with this many assets, without entries in its chain. */
  function rich(assets: number): void {
    const held = { balance: ZERO, reserved: ZERO, incoming: ZERO, room: ZERO, updatedAtMs: 1 }
    const balances = Balances.of(Array.from({ length: assets }, (_, index) => [`OLD-${index}`, held] as const))
    ledger.open('rich')
    ledger.put({ ...ledger.account('rich'), balances })
  }

  test('include incoming ones, before and after settlement', () => {
    rich(MAX_ASSETS - 1)
    const terms = termsOf([
      { account_id: 'ann', type: 'debit', amount: '4' },
      { account_id: 'rich', type: 'credit', amount: '4' },
    ])
    ledger.agree(terms)
    ledger.settled(legOf(terms, 1))
    ledger.issue({ tokenId: 'TIN', issuer: 'ann', totalSupply: '100' })
    const send = { ...TRANSFER, toAccountId: 'rich', amount: '1', tokenId: 'TIN' }
    expect(ledger.settled(send).failure?.code).toBe('asset_limit')
    ledger.revert(GROUP)
    expect(ledger.settled(send).failure?.code).toBe('asset_limit')
    expect(ledger.balance('rich')).toEqual(free('0'))
  })
})

describe('a frozen account', () => {
  beforeEach(() => {
    ledger.fund('ann', '10')
    ledger.issue({ issuer: 'ann', totalSupply: '10' })
  })

  test.for(['debit', 'transfer', 'exchange', 'mint', 'burn'] as const)(
    'fails its own %s, and receives value',
    (type) => {
      ledger.change('ann', { status: 'frozen' })
      const fields = { accountId: 'ann', type, tokenId: 'GOLD', amount: '1', groupId: GROUP } as const
      const txnId = ledger.submit(fields)
      expect(ledger.transaction(txnId)).toMatchObject({ status: 'failed', failure: { code: 'account_frozen' } })
      expect(ledger.transaction(ledger.fund('ann', '1')).status).toBe('completed')
      ledger.fund('bob', '1')
      expect(ledger.settled({ ...TRANSFER, accountId: 'bob', toAccountId: 'ann', amount: '1' }).status).toBe(
        'completed',
      )
    },
  )

  test('completes or reverts its earlier transactions', () => {
    const good = ledger.submit(TRANSFER)
    const bad = ledger.submit({ ...TRANSFER, expiresAtMs: ledger.nowMs + 100 })
    const mint = ledger.submit({ accountId: 'ann', type: 'mint', tokenId: 'GOLD', amount: '1' })
    ledger.change('ann', { status: 'frozen' })
    ledger.deliver()
    ledger.pass(100)
    ledger.drain()
    expect([good, bad, mint].map((txnId) => ledger.transaction(txnId).status)).toEqual([
      'completed',
      'failed',
      'completed',
    ])
    expect(ledger.balance('ann')).toEqual(free('6'))
  })

  test('settles or reverts the legs that it completed before, and fails those it takes now', () => {
    const legs = [OUT, IN]
    const first = termsOf(legs)
    const second = termsOf(legs, { groupId: '2f0c2c1e-7d35-4b4e-9d2a-0f4f6f1d2a33' })
    ledger.agree(first)
    ledger.agree(second)
    ledger.settled(legOf(first, 0))
    ledger.change('ann', { status: 'frozen' })
    ledger.settled(legOf(first, 1))
    expect(ledger.balance('bob')).toEqual(free('4'))
    const late = ledger.settled(legOf(second, 0))
    expect(late.failure?.code).toBe('account_frozen')
    expect(ledger.group(second.groupId)?.status).toBe('reverted')
    expect(ledger.balance('ann')).toEqual(free('6'))
  })
})

describe('closing is refused', () => {
  const closed = (accountId: string) => codeOf(ledger.change(accountId, { status: 'closed' }))

  test('with a balance, and granted when it is back to nothing', () => {
    ledger.fund('ann', '10')
    expect(closed('ann')).toBe('account_not_empty')
    ledger.submit({ accountId: 'ann', type: 'debit', amount: '10' })
    expect(closed('ann')).toBe(undefined)
    expect(ledger.account('ann').status).toBe('closed')
  })

  test('with a leg expected, completed on either side, or failed and not yet told so', () => {
    const terms = termsOf([OUT, IN])
    ledger.agree(terms)
    expect([closed('ann'), closed('bob')]).toEqual(['account_not_empty', 'account_not_empty'])
    ledger.submit(legOf(terms, 0))
    expect(closed('ann')).toBe('account_not_empty')
    ledger.drain()
    expect([closed('ann'), closed('bob')]).toEqual([undefined, undefined])
  })

  test('with a pending transaction', () => {
    ledger.issue({ issuer: 'ann', totalSupply: '0' })
    ledger.submit({ accountId: 'ann', type: 'mint', tokenId: 'GOLD', amount: '1' })
    expect(closed('ann')).toBe('account_not_empty')
  })
})

test(`an account has at most ${MAX_PENDING} pending transactions: one more is refused until one of them ends`, () => {
  ledger.fund('ann', '10')
  ledger.submit(TRANSFER)
  const { holds } = ledger.account('ann')
  const [hold] = holds.values()
  if (hold?.kind !== 'pending') throw new Error('Not pending.')
  const { transaction } = hold
  let many = holds
  for (let index = 1; index < MAX_PENDING; index += 1) {
    const txnId = `txn_${index}`
    many = many.with(txnId, { ...hold, transaction: { ...transaction, txnId }, reserves: false })
  }
  ledger.states.set('ann', { ...ledger.account('ann'), holds: many })
  expect(codeOf(ledger.submission({ ...TRANSFER, amount: '1' }))).toBe('pending_limit')
  ledger.drain()
  expect(codeOf(ledger.submission({ ...TRANSFER, amount: '1' }))).toBe(undefined)
})
