/** Goal: an NFT is exchanged with what comes for it or not at all: it is held before it is offered, free before a failure is said (F3, X1, X3). */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Submission } from '../../../actors/account/commands.ts'
import type { ExchangeState } from '../../../actors/exchange/state.ts'
import { MAX_OFFERS } from '../../../actors/exchange/step.ts'
import {
  balance,
  change,
  classOf,
  codeOf,
  counts,
  free,
  fund,
  GROUP,
  handing,
  lastEntry,
  minted,
  nftSeen,
  open,
  ownersOf,
  settled,
  submission,
  submit,
} from '../../model/mini-clients.ts'
import { countAtRest } from '../../model/mini-ledger-count.ts'
import { MiniLedger } from '../../model/mini-ledger.ts'
import { deliver } from './agreed-groups.ts'

type Fields = Partial<Submission> & Pick<Submission, 'accountId'>

const MONEY = { tokenId: 'BASE', amount: '30' }
const HOME = `exchange ${GROUP}`

let ledger: MiniLedger
let classId: string
let ruby: string
let opal: string

/** Ann has a ruby, Bob an opal and 100. */
beforeEach(() => {
  ledger = new MiniLedger()
  open(ledger, 'ann', 'bob', 'cid')
  classId = classOf(ledger, 'ann')
  ruby = minted(ledger, { accountId: 'ann', classId, instanceId: 'ruby' })
  opal = minted(ledger, { accountId: 'ann', classId, instanceId: 'opal', owner: 'bob' })
  fund(ledger, 'bob', '100')
})

function swap(accountId: string, toAccountId: string, gives: typeof MONEY, receive: typeof MONEY): Fields {
  return { ...gives, accountId, toAccountId, type: 'exchange', groupId: GROUP, receive }
}

function one(tokenId: string) {
  return { tokenId, amount: '1' }
}

/** The ruby for 30, and its mirror. */
function sells(): Fields {
  return swap('ann', 'bob', one(ruby), MONEY)
}
function buys(): Fields {
  return swap('bob', 'ann', { ...MONEY, amount: '30.0' }, one(ruby))
}

/** The ruby for the opal, and its mirror. */
function trades(): readonly [Fields, Fields] {
  return [swap('ann', 'bob', one(ruby), one(opal)), swap('bob', 'ann', one(opal), one(ruby))]
}

function exchange(): ExchangeState | undefined {
  return ledger.states.get(HOME) as ExchangeState | undefined
}

function at(id: string): string {
  return `instance ${id}`
}

function statusOf(txnId: string): string {
  const { status, failure } = ledger.transaction(txnId)
  return failure?.code ?? status
}

function expectOwners(rubys: string, opals: string): void {
  expect(nftSeen(ledger, ruby)).toMatchObject({ owner: rubys, status: 'active' })
  expect(nftSeen(ledger, opal)).toMatchObject({ owner: opals, status: 'active' })
  for (const { accountId, holds, nftCount, nftRoom } of ledger.accounts()) {
    const owned = [rubys, opals].filter((owner) => owner === accountId).length
    expect([accountId, holds.size, nftCount, nftRoom]).toEqual([accountId, 0, owned, 0])
  }
  expect([exchange()?.offers ?? [], exchange()?.pairs ?? []]).toEqual([[], []])
  countAtRest(ledger)
}

function expectNothingHappened(): void {
  expectOwners('ann', 'bob')
  expect([balance(ledger, 'ann'), balance(ledger, 'bob')]).toEqual([free('0'), free('100')])
}

describe('an NFT for a token', () => {
  test.for([
    ['the NFT', () => [sells(), buys()]],
    ['the token', () => [buys(), sells()]],
  ] as const)(
    'is exchanged, %s offered first: one entry on each side, and each says what went and what came',
    ([, both]) => {
      const [first, second] = both()
      if (first === undefined || second === undefined) throw new Error('There are two sides.')
      const waiting = submit(ledger, first)
      ledger.drain()
      expect(statusOf(waiting)).toBe('pending')
      const { txnId } = settled(ledger, second)
      expect([statusOf(waiting), statusOf(txnId)]).toEqual(['completed', 'completed'])
      expect(ledger.transaction(waiting).counterTxnId).toBe(txnId)
      expect(ledger.transaction(txnId).counterTxnId).toBe(waiting)
      expect([balance(ledger, 'ann'), balance(ledger, 'bob')]).toEqual([free('30'), free('70')])
      expectOwners('bob', 'bob')
      const nft = { amount: '1', class_id: classId, instance_id: 'ruby' }
      const [anns, bobs] = [lastEntry(ledger, 'ann'), lastEntry(ledger, 'bob')]
      expect(anns).toMatchObject({ ...nft, receive: { token_id: 'BASE', amount: '30' }, received_balance: '30' })
      expect(anns).not.toHaveProperty('token_id')
      expect(bobs).toMatchObject({ token_id: 'BASE', balance: '70', receive: nft })
      expect(bobs).not.toHaveProperty('received_balance')
      const sale = [waiting, txnId].find((id) => ledger.transaction(id).accountId === 'ann')
      expect(ledger.nftEvents.get(ruby)?.at(-1)).toMatchObject({
        type: 'transfer',
        from: 'ann',
        to: 'bob',
        txnId: sale,
      })
    },
  )

  test('F3: is offered only once its home holds it', () => {
    submit(ledger, sells())
    expect(ledger.undelivered().map(({ to }) => to.kind)).toEqual(['instance'])
    deliver(ledger, ['ann', at(ruby)])
    expect(nftSeen(ledger, ruby)?.status).toBe('held')
    expect(ledger.undelivered().map(({ to }) => to.kind)).toEqual(['account'])
    deliver(ledger, [at(ruby), 'ann'])
    expect(ledger.undelivered().map(({ to }) => to.kind)).toEqual(['exchange'])
  })

  test('X3: changes hands before either side is told, and nobody is told twice', () => {
    const [anns, bobs] = [submit(ledger, sells()), submit(ledger, buys())]
    while (exchange()?.pairs?.length !== 1) ledger.deliver()
    expect(exchange()).toMatchObject({ offers: [], dueAtMs: null, pairs: [{ delivering: [anns] }] })
    expect(nftSeen(ledger, ruby)).toMatchObject({ owner: 'ann', status: 'held' })
    deliver(ledger, [HOME, at(ruby)])
    expect(nftSeen(ledger, ruby)).toMatchObject({ owner: 'bob', status: 'active' })
    expect([statusOf(anns), statusOf(bobs)]).toEqual(['pending', 'pending'])
    expect(ledger.undelivered()).toHaveLength(1)
    deliver(ledger, [at(ruby), HOME])
    expect(exchange()).toBe(undefined)
    ledger.drain()
    expectOwners('bob', 'bob')
  })

  test('is its new owner’s to give on before that account has heard of it; it is counted right', () => {
    submit(ledger, sells())
    submit(ledger, buys())
    while (exchange()?.pairs?.length !== 1) ledger.deliver()
    deliver(ledger, [HOME, at(ruby)])
    const on = submit(ledger, handing(ruby, 'bob', 'cid'))
    deliver(ledger, ['bob', at(ruby)], [at(ruby), 'cid'], ['cid', at(ruby)], [at(ruby), 'bob'])
    expect(statusOf(on)).toBe('completed')
    settled(ledger, handing(opal, 'bob', 'cid'))
    expectOwners('cid', 'cid')
  })

  test('keeps both its sides from being closed', () => {
    submit(ledger, sells())
    ledger.drain()
    expect(codeOf(change(ledger, 'ann', { status: 'closed' }))).toBe('account_not_empty')
    fund(ledger, 'cid', '30')
    submit(ledger, { ...buys(), accountId: 'cid' })
    submit(ledger, { accountId: 'cid', type: 'debit', amount: '0.0001' })
    expect(counts(ledger, 'cid')).toEqual({ owned: 0, promised: 1 })
    expect(codeOf(change(ledger, 'cid', { status: 'closed' }))).toBe('account_not_empty')
  })
})

describe('an NFT for an NFT', () => {
  test.for([
    ['the ruby', () => [ruby, opal]],
    ['the opal', () => [opal, ruby]],
  ] as const)('is exchanged, %s delivered first; both sides are told when both have changed hands', ([, order]) => {
    const [anns, bobs] = trades().map((fields) => submit(ledger, fields))
    if (anns === undefined || bobs === undefined) throw new Error('There are two sides.')
    while (exchange()?.pairs?.length !== 1) ledger.deliver()
    const [first = '', second = ''] = order()
    deliver(ledger, [HOME, at(first)], [at(first), HOME])
    expect(exchange()?.pairs).toMatchObject([{ delivering: [first === ruby ? bobs : anns] }])
    expect([statusOf(anns), statusOf(bobs)]).toEqual(['pending', 'pending'])
    deliver(ledger, [HOME, at(second)], [at(second), HOME])
    ledger.drain()
    expect([statusOf(anns), statusOf(bobs)]).toEqual(['completed', 'completed'])
    expectOwners('bob', 'ann')
    expect(lastEntry(ledger, 'ann')).toMatchObject({
      instance_id: 'ruby',
      receive: { instance_id: 'opal', amount: '1' },
    })
  })

  test('is two changes of hands, each by the order of who gave', () => {
    const [anns, bobs] = trades().map((fields) => submit(ledger, fields))
    ledger.drain()
    expect(ledger.nftEvents.get(ruby)?.at(-1)).toMatchObject({ to: 'bob', txnId: anns })
    expect(ledger.nftEvents.get(opal)?.at(-1)).toMatchObject({ to: 'ann', txnId: bobs })
    expect(ownersOf(ledger, opal)).toHaveLength(2)
  })
})

describe('an exchange of an NFT fails', () => {
  function expectFailure(fields: Fields, code: string): void {
    expect(settled(ledger, fields)).toMatchObject({ status: 'failed', failure: { code } })
  }

  test('not_owner, held: because its home does not hold it; it was never offered', () => {
    expectFailure(swap('cid', 'bob', one(ruby), MONEY), 'not_owner')
    submit(ledger, sells())
    expectFailure({ ...sells(), groupId: '2f0c2c1e-7d35-4b4e-9d2a-0f4f6f1d2a33' }, 'held')
    expectFailure(sells(), 'held')
    expectFailure(swap('bob', 'ann', one(ruby), MONEY), 'not_owner')
    expect(exchange()?.offers).toHaveLength(1)
    settled(ledger, buys())
    expectOwners('bob', 'bob')
  })

  test('incoming_refused, balance_limit: at once, where what it brings would not fit, and asks nobody', () => {
    fund(ledger, 'ann', '999999999999999980')
    const refused = submit(ledger, sells())
    expect([statusOf(refused), ledger.undelivered()]).toEqual(['balance_limit', []])
    change(ledger, 'bob', { incoming: 'refuse' })
    const unwilling = submit(ledger, trades()[1])
    expect([statusOf(unwilling), ledger.undelivered()]).toEqual(['incoming_refused', []])
    expectOwners('ann', 'bob')
  })

  test('account_frozen: at once, and asks nobody', () => {
    change(ledger, 'ann', { status: 'frozen' })
    const refused = submit(ledger, sells())
    expect([statusOf(refused), ledger.undelivered()]).toEqual(['account_frozen', []])
  })

  test('is refused where there is no such NFT, given or to be brought', () => {
    const jade = `${classId}/jade`
    expect(submission(ledger, swap('ann', 'bob', one(jade), MONEY))).toMatchObject({
      code: 'instance_not_found',
      field: 'instance_id',
    })
    expect(submission(ledger, swap('bob', 'ann', MONEY, one(jade)))).toMatchObject({
      code: 'instance_not_found',
      field: 'receive.instance_id',
    })
    expect(submission(ledger, swap('bob', 'ann', MONEY, one('cls_none/x')))).toMatchObject({
      code: 'class_not_found',
      field: 'receive.class_id',
    })
  })

  test('exchange_expired, while its home is asked: it is held, offered too late, and free before that is said', () => {
    const txnId = submit(ledger, { ...sells(), expiresAtMs: ledger.nowMs + 500 })
    ledger.nowMs += 1_000
    deliver(ledger, ['ann', at(ruby)], [at(ruby), 'ann'], ['ann', HOME])
    expect(exchange()?.offers).toEqual([])
    deliver(ledger, [HOME, 'ann'])
    expect([statusOf(txnId), nftSeen(ledger, ruby)?.status]).toEqual(['pending', 'held'])
    deliver(ledger, ['ann', at(ruby)])
    expect([statusOf(txnId), nftSeen(ledger, ruby)?.status]).toEqual(['pending', 'active'])
    deliver(ledger, [at(ruby), 'ann'])
    expect(statusOf(txnId)).toBe('exchange_expired')
    expectNothingHappened()
  })

  test('exchange_expired, while it waits: it is free before that is said, and may be given on at once', () => {
    const txnId = submit(ledger, sells())
    ledger.drain()
    ledger.pass(900_000)
    deliver(ledger, [HOME, 'ann'])
    expect(nftSeen(ledger, ruby)?.status).toBe('held')
    const on = submit(ledger, handing(ruby, 'ann', 'cid'))
    deliver(ledger, ['ann', at(ruby)])
    expect(statusOf(txnId)).toBe('pending')
    ledger.drain()
    expect([statusOf(txnId), statusOf(on)]).toEqual(['exchange_expired', 'completed'])
    expectOwners('cid', 'bob')
  })

  test('not once it is paired, however long its NFTs take', () => {
    const both = trades().map((fields) => submit(ledger, { ...fields, expiresAtMs: ledger.nowMs + 5_000 }))
    while (exchange()?.pairs?.length !== 1) ledger.deliver()
    ledger.pass(3_600_000)
    deliver(ledger, [HOME, at(opal)], [at(opal), HOME])
    ledger.pass(3_600_000)
    ledger.drain()
    expect(both.map(statusOf)).toEqual(['completed', 'completed'])
    expectOwners('bob', 'ann')
  })

  test('exchange_expired, for one that waits beside a pair; the pair goes on', () => {
    const both = trades().map((fields) => submit(ledger, fields))
    while (exchange()?.pairs?.length !== 1) ledger.deliver()
    const late = submit(ledger, swap('bob', 'cid', MONEY, one(ruby)))
    deliver(ledger, ['bob', HOME])
    expect(exchange()).toMatchObject({ offers: [{ txnId: late }], pairs: [{}] })
    ledger.pass(900_000)
    expect(exchange()).toMatchObject({ offers: [], pairs: [{}], expired: [{ txnId: late }] })
    ledger.drain()
    expect([...both, late].map(statusOf)).toEqual(['completed', 'completed', 'exchange_expired'])
    expectOwners('bob', 'ann')
  })
})

describe('under one group ID', () => {
  test(`${MAX_OFFERS} wait, pairs among them; what does not fit is let go before that is said`, () => {
    const jade = minted(ledger, { accountId: 'ann', classId, instanceId: 'jade' })
    const both = trades().map((fields) => submit(ledger, fields))
    while (exchange()?.pairs?.length !== 1) ledger.deliver()
    // The pair stays as it is: what its home sends waits.
    for (let index = 0; index < MAX_OFFERS - 1; index += 1) {
      submit(ledger, swap('bob', 'ann', { tokenId: 'BASE', amount: `0.${100 + index}` }, one(ruby)))
      deliver(ledger, ['bob', HOME])
    }
    expect(exchange()).toMatchObject({ pairs: [{}] })
    expect(exchange()?.offers).toHaveLength(MAX_OFFERS - 1)
    const tooMany = submit(ledger, swap('ann', 'bob', one(jade), { tokenId: 'BASE', amount: '7' }))
    deliver(ledger, ['ann', at(jade)], [at(jade), 'ann'], ['ann', HOME], [HOME, 'ann'])
    expect([statusOf(tooMany), nftSeen(ledger, jade)?.status]).toEqual(['pending', 'held'])
    deliver(ledger, ['ann', at(jade)], [at(jade), 'ann'])
    expect([statusOf(tooMany), nftSeen(ledger, jade)?.status]).toEqual(['exchange_limit', 'active'])
    ledger.drain()
    expect(both.map(statusOf)).toEqual(['completed', 'completed'])
  })
})
