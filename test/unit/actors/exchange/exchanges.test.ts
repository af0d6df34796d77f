/** An exchange completes with its mirror or fails, and no account can refuse a paired exchange (P2, X1, X2). */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Submission } from '../../../../actors/account/commands.ts'
import { EXCHANGE_TIMEOUT_MS } from '../../../../actors/account/pending.ts'
import { exchangeActor } from '../../../../actors/exchange/machine.ts'
import { MAX_OFFERS, REMEMBERED_MS } from '../../../../actors/exchange/pairing.ts'
import type { ExchangeOffer, ExchangeState } from '../../../../actors/exchange/state.ts'
import { START_MS } from '../../../support/accounts.ts'
import { codeOf, free, GROUP, World } from '../../../model/mini-clients.ts'

const ANNS = {
  accountId: 'ann',
  type: 'exchange',
  amount: '3',
  tokenId: 'GOLD',
  toAccountId: 'bob',
  receive: { tokenId: 'BASE', amount: '50' },
  groupId: GROUP,
} as const satisfies Partial<Submission>

const BOBS = {
  accountId: 'bob',
  type: 'exchange',
  amount: '50.0',
  tokenId: 'BASE',
  toAccountId: 'ann',
  receive: { tokenId: 'GOLD', amount: '3.00' },
  groupId: GROUP,
} as const satisfies Partial<Submission>

let ledger: World

/** Ann has 10 GOLD, which she issued; Bob has 100. */
beforeEach(() => {
  ledger = new World()
  ledger.open('ann', 'bob')
  ledger.issue({ issuer: 'ann', totalSupply: '10' })
  ledger.fund('bob', '100')
})

function nothingHappened(): void {
  expect(ledger.balance('ann', 'GOLD')).toEqual(free('10'))
  expect(ledger.balance('bob')).toEqual(free('100'))
  for (const name of ['ann', 'bob']) expect(ledger.account(name).holds.size).toBe(0)
}

describe('an exchange', () => {
  test('reserves its value until its mirror arrives; amounts compare by value, and each side names the other', () => {
    const anns = ledger.submit(ANNS)
    ledger.drain()
    expect(ledger.transaction(anns).status).toBe('pending')
    expect(ledger.balance('ann', 'GOLD')).toEqual({ balance: '10', available: '7', incoming: '0' })
    const bobs = ledger.submit(BOBS)
    ledger.drain()
    expect(ledger.transaction(anns)).toMatchObject({ status: 'completed', counterTxnId: bobs, amount: '3' })
    expect(ledger.transaction(bobs)).toMatchObject({ status: 'completed', counterTxnId: anns, amount: '50.0' })
    expect(ledger.balance('ann', 'GOLD')).toEqual(free('7'))
    expect(ledger.balance('ann')).toEqual(free('50'))
    expect(ledger.balance('bob', 'GOLD')).toEqual(free('3'))
    expect(ledger.balance('bob')).toEqual(free('50'))
    expect(ledger.states.has(`exchange ${GROUP}`)).toBe(false)
    expect(JSON.parse(ledger.entries.get('ann')?.at(-1)?.payload ?? '')).toMatchObject({
      balance_after: '7',
      available_after: '7',
      receive: { token_id: 'BASE', amount: '50', balance_after: '50', available_after: '50' },
      counter_txn_id: bobs,
      to_account_id: 'bob',
    })
  })

  test.for<[string, Partial<Submission>]>([
    ['another amount', { amount: '50.01' }],
    ['another amount in return', { receive: { tokenId: 'GOLD', amount: '2.99' } }],
    ['another account', { toAccountId: 'cid' }],
    ['another group', { groupId: '2f0c2c1e-7d35-4b4e-9d2a-0f4f6f1d2a33' }],
  ])('does not take %s for its mirror', ([, fields]) => {
    ledger.open('cid')
    const anns = ledger.submit(ANNS)
    const bobs = ledger.submit({ ...BOBS, ...fields })
    ledger.drain()
    expect([anns, bobs].map((txnId) => ledger.transaction(txnId).status)).toEqual(['pending', 'pending'])
    ledger.pass(901_000)
    ledger.drain()
    nothingHappened()
  })

  test('without a mirror in 900 seconds fails and frees its reserved value', () => {
    const anns = ledger.submit(ANNS)
    ledger.drain()
    ledger.pass(899_000)
    ledger.drain()
    expect(ledger.transaction(anns).status).toBe('pending')
    ledger.pass(1_000)
    ledger.drain()
    expect(ledger.transaction(anns)).toMatchObject({ status: 'failed', failure: { code: 'exchange_expired' } })
    nothingHappened()
  })

  test('that has expired pairs with no mirror, even before its timer runs', () => {
    const anns = ledger.submit({ ...ANNS, expiresAtMs: ledger.nowMs + 500 })
    ledger.drain()
    ledger.nowMs += 1_000
    const bobs = ledger.submit(BOBS)
    ledger.drain()
    expect(ledger.transaction(anns).failure?.code).toBe('exchange_expired')
    expect(ledger.transaction(bobs).failure?.code).toBe('exchange_expired')
    nothingHappened()
  })

  test('X4: the mirror of an expired offer fails at once, for a day; another offer waits, and a new pair completes', () => {
    ledger.submit({ ...ANNS, expiresAtMs: ledger.nowMs + 500 })
    ledger.pass(1_000)
    ledger.drain()
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(ledger.settled(BOBS).failure?.code).toBe('exchange_expired')
    }
    const other = ledger.settled({ ...BOBS, amount: '1.99' })
    expect(other.status).toBe('pending')
    const again = ledger.settled(ANNS)
    expect([again.status, ledger.settled(BOBS).status]).toEqual(['pending', 'completed'])
    ledger.pass(REMEMBERED_MS)
    ledger.drain()
    expect(ledger.states.has(`exchange ${GROUP}`)).toBe(true)
    ledger.pass(EXCHANGE_TIMEOUT_MS)
    expect(ledger.states.has(`exchange ${GROUP}`)).toBe(false)
    expect(ledger.settled(BOBS).status).toBe('pending')
  })

  test('the state of its home follows the time at which a timer comes: early, in time, or a day late', () => {
    ledger.submit({ ...ANNS, expiresAtMs: ledger.nowMs + 500 })
    ledger.drain()
    const home = ledger.states.get(`exchange ${GROUP}`)
    if (home?.kind !== 'exchange' || home.dueAtMs === null) throw new Error('No offer waits.')
    const { dueAtMs } = home
    const at = (atMs: number) => {
      const timer = { type: 'due', dueAtMs, atMs, salt: '0'.repeat(32), newTxnId: 'txn_0' } as const
      return exchangeActor.step(GROUP, home, timer, {})
    }
    expect(at(dueAtMs - 1)).toEqual({ kind: 'answered', answer: null })
    expect(at(dueAtMs)).toMatchObject({ kind: 'stepped', state: { status: 'expired', offers: [] } })
    expect(at(dueAtMs + REMEMBERED_MS)).toMatchObject({ kind: 'stepped', state: null })
  })

  test('its home waits, remembers or ends with the time at which an offer comes: in time, late, or a day late', () => {
    const expiresAtMs = START_MS + 500
    const sides = { gives: { tokenId: 'GOLD', amount: '3' }, receives: { tokenId: 'BASE', amount: '50' } }
    const come = (home: ExchangeState | null, atMs: number, txnId: string) => {
      const offer = {
        type: 'offer_exchange',
        txnId,
        accountId: 'ann',
        toAccountId: 'bob',
        ...sides,
        expiresAtMs,
      } as const
      return exchangeActor.step(GROUP, home, { ...offer, atMs, salt: '0'.repeat(32), newTxnId: 'txn_0' }, {})
    }
    const waiting = come(null, START_MS, 'txn_1')
    if (waiting.kind !== 'stepped' || waiting.state?.status !== 'waiting') throw new Error('No offer waits.')
    const expired: ExchangeState = { ...waiting.state, status: 'expired', offers: [], expired: waiting.state.offers }
    for (const home of [null, waiting.state, expired]) {
      expect(come(home, expiresAtMs - 1, 'txn_2')).toMatchObject({ state: { status: 'waiting' } })
      expect(come(home, expiresAtMs, 'txn_2')).toMatchObject({ state: { status: 'expired', offers: [] } })
      const late = come(home, expiresAtMs + REMEMBERED_MS, 'txn_2')
      expect(late).toMatchObject({ kind: 'stepped', state: null })
      expect('effects' in late && late.effects).toHaveLength(home === waiting.state ? 2 : 1)
    }
  })

  test('its home remembers an expired offer after the last pair is complete, and until its own day ends', () => {
    const anns = { txnId: 'txn_1', accountId: 'ann', toAccountId: 'bob', expiresAtMs: START_MS }
    const sides = { gives: { tokenId: 'cls_1/ruby', amount: '1' }, receives: { tokenId: 'BASE', amount: '50' } }
    const offer: ExchangeOffer = { ...anns, ...sides }
    const mirror: ExchangeOffer = { ...offer, txnId: 'txn_2', accountId: 'bob', toAccountId: 'ann' }
    const home = { kind: 'exchange', format: 1, id: GROUP, version: 1, offers: [], lastTimeMs: START_MS } as const
    const stamp = { salt: '0'.repeat(32), newTxnId: 'txn_0' }
    const delivering: ExchangeState = {
      ...home,
      status: 'waiting',
      pairs: [{ sides: [offer, mirror], delivering: ['txn_1'] }],
      expired: [{ ...offer, txnId: 'txn_3' }],
      dueAtMs: START_MS + REMEMBERED_MS,
    }
    const delivered = { type: 'nft_delivered', txnId: 'txn_1', atMs: START_MS, ...stamp } as const
    expect(exchangeActor.step(GROUP, delivering, delivered, {})).toMatchObject({
      state: { status: 'expired', pairs: [] },
    })
    const expired = [offer, { ...offer, expiresAtMs: START_MS + 1 }]
    const remembering: ExchangeState = { ...home, status: 'expired', expired, dueAtMs: START_MS + REMEMBERED_MS }
    const ends = (atMs: number) =>
      exchangeActor.step(GROUP, remembering, { type: 'due', dueAtMs: START_MS + REMEMBERED_MS, atMs, ...stamp }, {})
    expect(ends(START_MS + REMEMBERED_MS)).toMatchObject({ state: { status: 'expired', expired: [expired[1]] } })
    expect(ends(START_MS + REMEMBERED_MS + 1)).toMatchObject({ kind: 'stepped', state: null })
  })

  test('completes though both accounts have been frozen and refuse incoming value by then', () => {
    const anns = ledger.submit(ANNS)
    const bobs = ledger.submit(BOBS)
    for (const name of ['ann', 'bob']) ledger.change(name, { status: 'frozen', incoming: 'refuse' })
    ledger.drain()
    expect([anns, bobs].map((txnId) => ledger.transaction(txnId).status)).toEqual(['completed', 'completed'])
  })

  test.for<[string, () => unknown, Partial<Submission>]>([
    ['insufficient_funds', () => undefined, { amount: '10.01' }],
    ['balance_limit', () => ledger.fund('ann', '999999999999999950'), {}],
    ['incoming_refused', () => ledger.change('ann', { incoming: 'refuse' }), {}],
  ])('that cannot be kept fails with %s at once and offers nothing', ([code, spoil, fields]) => {
    spoil()
    const txnId = ledger.submit({ ...ANNS, ...fields })
    expect(ledger.transaction(txnId)).toMatchObject({ status: 'failed', failure: { code } })
    expect(ledger.undelivered()).toEqual([])
    nothingHappened()
  })

  test('pairs with the first mirror that waits', () => {
    const first = ledger.submit(ANNS)
    const second = ledger.submit(ANNS)
    ledger.drain()
    const { counterTxnId } = ledger.settled(BOBS)
    expect(counterTxnId).toBe(first)
    expect(ledger.transaction(second).status).toBe('pending')
  })

  test(`waits under one group ID with ${MAX_OFFERS - 1} others at most; a mirror is heard all the same`, () => {
    ledger.fund('ann', '1000')
    const offer = (index: number) =>
      ledger.submit({
        ...ANNS,
        amount: '1',
        tokenId: 'BASE',
        receive: { tokenId: 'GOLD', amount: `0.${10 + index}` },
        toAccountId: 'bob',
      })
    for (let index = 0; index < MAX_OFFERS; index += 1) offer(index)
    const tooMany = offer(MAX_OFFERS)
    ledger.drain()
    expect(ledger.transaction(tooMany)).toMatchObject({ status: 'failed', failure: { code: 'exchange_limit' } })
    ledger.submit({ accountId: 'ann', type: 'transfer', toAccountId: 'bob', amount: '5', tokenId: 'GOLD' })
    ledger.drain()
    const mirror = { ...BOBS, tokenId: 'GOLD', amount: '0.1', receive: { tokenId: 'BASE', amount: '1' } }
    expect(ledger.settled(mirror).status).toBe('completed')
  })

  test('without a receiver goes to the external account at once', () => {
    const out = ledger.settled({ ...ANNS, toAccountId: null, receive: null })
    expect(out.status).toBe('completed')
    expect(ledger.balance('ann', 'GOLD')).toEqual(free('7'))
  })

  test('for an asset that does not exist, or more finely than it is divided, is refused', () => {
    const unknown = { ...ANNS, receive: { tokenId: 'NOPE', amount: '1' } }
    expect(codeOf(ledger.submission(unknown))).toBe('token_not_found')
    expect(codeOf(ledger.submission({ ...BOBS, receive: { tokenId: 'GOLD', amount: '3.001' } }))).toBe(
      'amount_precision',
    )
  })
})
