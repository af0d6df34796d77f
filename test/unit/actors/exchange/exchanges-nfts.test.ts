/** An NFT is exchanged with its mirror or not at all. Its hold starts before the offer (F3, X1, X3). */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Submission } from '../../../../actors/account/commands.ts'
import type { ExchangeState } from '../../../../actors/exchange/state.ts'
import { MAX_OFFERS } from '../../../../actors/exchange/pairing.ts'
import { codeOf, free, GROUP, handing, type World } from '../../../model/mini-clients.ts'
import { deliver } from '../group/agreed-groups.ts'
import { expectAtRest, Gems } from '../nft/gems.ts'

type Fields = Partial<Submission> & Pick<Submission, 'accountId'>

const MONEY = { tokenId: 'BASE', amount: '30' }
const HOME = `exchange ${GROUP}`

let gems: Gems
let ledger: World
let ruby: string
let opal: string

beforeEach(() => {
  gems = new Gems()
  ;({ ledger, ruby, opal } = gems)
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
function buys(accountId = 'bob'): Fields {
  return swap(accountId, 'ann', { ...MONEY, amount: '30.0' }, one(ruby))
}

/** The ruby for the opal, and its mirror. */
function trades(): readonly [Fields, Fields] {
  return [swap('ann', 'bob', one(ruby), one(opal)), swap('bob', 'ann', one(opal), one(ruby))]
}

/** Submits these and delivers until they are a pair. */
function paired(...offers: readonly Fields[]): readonly string[] {
  const txnIds = offers.map((fields) => ledger.submit(fields))
  while (exchange()?.pairs?.length !== 1) ledger.deliver()
  return txnIds
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

/** The status of the exchange and of the ruby. */
function seen(txnId: string, id = ruby): readonly unknown[] {
  return [statusOf(txnId), ledger.nftSeen(id)?.status]
}

function expectOwners(rubys: string, opals: string): void {
  expect([exchange()?.offers ?? [], exchange()?.pairs ?? []]).toEqual([[], []])
  expectAtRest(gems, rubys, opals)
}

describe('an NFT for a token', () => {
  test('is exchanged although its owner is frozen after the offer', () => {
    const waiting = ledger.submit(sells())
    ledger.change('ann', { status: 'frozen' })
    ledger.settled(buys())
    expect(statusOf(waiting)).toBe('completed')
    expectOwners('bob', 'bob')
  })

  test.for([
    ['the NFT', () => [sells(), buys()]],
    ['the token', () => [buys(), sells()]],
  ] as const)(
    'is exchanged, %s offered first: one entry on each side, and each says what went and what came',
    ([, both]) => {
      const [first, second] = both()
      if (first === undefined || second === undefined) throw new Error('There are two sides.')
      const waiting = ledger.submit(first)
      ledger.drain()
      expect(statusOf(waiting)).toBe('pending')
      const { txnId } = ledger.settled(second)
      expect([statusOf(waiting), statusOf(txnId)]).toEqual(['completed', 'completed'])
      expect(ledger.transaction(waiting).counterTxnId).toBe(txnId)
      expect(ledger.transaction(txnId).counterTxnId).toBe(waiting)
      expect([ledger.balance('ann'), ledger.balance('bob')]).toEqual([free('30'), free('70')])
      expectOwners('bob', 'bob')
      const nft = { amount: '1', class_id: gems.classId, instance_id: 'ruby' }
      const [anns, bobs] = [ledger.lastEntry('ann'), ledger.lastEntry('bob')]
      expect(anns).toMatchObject({
        ...nft,
        receive: { token_id: 'BASE', amount: '30', balance_after: '30', available_after: '30' },
      })
      expect(anns).not.toHaveProperty('token_id')
      expect(bobs).toMatchObject({ token_id: 'BASE', balance_after: '70', available_after: '70' })
      expect(bobs).toHaveProperty('receive', nft)
      const sale = [waiting, txnId].find((id) => ledger.transaction(id).accountId === 'ann')
      const last = { type: 'transfer', from: 'ann', to: 'bob', txnId: sale }
      expect(ledger.nftEvents.get(ruby)?.at(-1)).toMatchObject(last)
    },
  )

  test('F3: is offered only after its home holds it', () => {
    ledger.submit(sells())
    const asked = () => ledger.undelivered().map(({ to }) => to.kind)
    expect(asked()).toEqual(['instance'])
    deliver(ledger, ['ann', at(ruby)])
    expect([ledger.nftSeen(ruby)?.status, asked()]).toEqual(['held', ['account']])
    deliver(ledger, [at(ruby), 'ann'])
    expect(asked()).toEqual(['exchange'])
  })

  test('X3: changes hands before either side is notified, and each side is notified once', () => {
    const both = paired(sells(), buys())
    expect(exchange()).toMatchObject({ offers: [], dueAtMs: null, pairs: [{ delivering: [both[0]] }] })
    expect(ledger.nftSeen(ruby)).toMatchObject({ owner: 'ann', status: 'held' })
    deliver(ledger, [HOME, at(ruby)])
    expect(ledger.nftSeen(ruby)).toMatchObject({ owner: 'bob', status: 'active' })
    expect(both.map(statusOf)).toEqual(['pending', 'pending'])
    expect(ledger.undelivered()).toHaveLength(1)
    deliver(ledger, [at(ruby), HOME])
    expect(exchange()).toBe(undefined)
    ledger.drain()
    expectOwners('bob', 'bob')
  })

  test('keeps both accounts from closing', () => {
    ledger.submit(sells())
    ledger.drain()
    expect(codeOf(ledger.change('ann', { status: 'closed' }))).toBe('account_not_empty')
    ledger.fund('cid', '30')
    ledger.submit(buys('cid'))
    ledger.submit({ accountId: 'cid', type: 'debit', amount: '0.0001' })
    expect(ledger.counts('cid')).toEqual({ owned: 0, promised: 1 })
    expect(codeOf(ledger.change('cid', { status: 'closed' }))).toBe('account_not_empty')
  })
})

describe('an NFT for an NFT', () => {
  test.for([
    ['the ruby', () => [ruby, opal]],
    ['the opal', () => [opal, ruby]],
  ] as const)('is exchanged, %s delivered first; both sides are told when both have changed hands', ([, order]) => {
    const both = paired(...trades())
    const [first = '', second = ''] = order()
    deliver(ledger, [HOME, at(first)], [at(first), HOME])
    expect(exchange()?.pairs).toMatchObject([{ delivering: [both[first === ruby ? 1 : 0]] }])
    expect(both.map(statusOf)).toEqual(['pending', 'pending'])
    deliver(ledger, [HOME, at(second)], [at(second), HOME])
    ledger.drain()
    expect(both.map(statusOf)).toEqual(['completed', 'completed'])
    expectOwners('bob', 'ann')
    expect(ledger.lastEntry('ann')).toMatchObject({
      instance_id: 'ruby',
      receive: { instance_id: 'opal', amount: '1' },
    })
    expect(ledger.nftEvents.get(ruby)?.at(-1)).toMatchObject({ to: 'bob', txnId: both[0] })
    expect(ledger.nftEvents.get(opal)?.at(-1)).toMatchObject({ to: 'ann', txnId: both[1] })
  })
})

// Why it fails whatever is ordered of an NFT: nft-failures.test.ts.
describe('an exchange of an NFT', () => {
  test.for<[string, () => unknown, () => Fields]>([
    ['incoming_refused', () => ledger.change('bob', { incoming: 'refuse' }), () => trades()[1]],
    ['balance_limit', () => ledger.fund('ann', '999999999999999980'), sells],
    ['account_frozen', () => ledger.change('ann', { status: 'frozen' }), sells],
  ])('fails with %s at once, without a message', ([code, spoil, fields]) => {
    spoil()
    const refused = ledger.submit(fields())
    expect([statusOf(refused), ledger.undelivered()]).toEqual([code, []])
    expectOwners('ann', 'bob')
  })

  test('is refused if either NFT does not exist', () => {
    const jade = one(`${gems.classId}/jade`)
    for (const [fields, code, field] of [
      [swap('ann', 'bob', jade, MONEY), 'instance_not_found', 'instance_id'],
      [swap('bob', 'ann', MONEY, jade), 'instance_not_found', 'receive.instance_id'],
      [swap('bob', 'ann', MONEY, one('cls_none/x')), 'class_not_found', 'receive.class_id'],
    ] as const) {
      expect(ledger.submission(fields)).toMatchObject({ code, field })
    }
  })

  test('exchange_expired, while its home is asked: it is held, offered too late, and free before that is said', () => {
    const txnId = ledger.submit({ ...sells(), expiresAtMs: ledger.nowMs + 500 })
    ledger.nowMs += 1_000
    deliver(ledger, ['ann', at(ruby)], [at(ruby), 'ann'], ['ann', HOME])
    expect(exchange()?.offers).toEqual([])
    deliver(ledger, [HOME, 'ann'])
    expect(seen(txnId)).toEqual(['pending', 'held'])
    deliver(ledger, ['ann', at(ruby)])
    expect(seen(txnId)).toEqual(['pending', 'active'])
    deliver(ledger, [at(ruby), 'ann'])
    expect(statusOf(txnId)).toBe('exchange_expired')
    expectOwners('ann', 'bob')
  })

  test('exchange_expired, while it waits: it is free before that is said, and may be given on at once', () => {
    const txnId = ledger.submit(sells())
    ledger.drain()
    ledger.pass(900_000)
    deliver(ledger, [HOME, 'ann'])
    expect(ledger.nftSeen(ruby)?.status).toBe('held')
    const on = ledger.submit(handing(ruby, 'ann', 'cid'))
    deliver(ledger, ['ann', at(ruby)])
    expect(statusOf(txnId)).toBe('pending')
    ledger.drain()
    expect([statusOf(txnId), statusOf(on)]).toEqual(['exchange_expired', 'completed'])
    expectOwners('cid', 'bob')
  })

  test('does not expire once it is paired, however long its NFTs take; one that waits beside it does', () => {
    const both = paired(...trades().map((fields) => ({ ...fields, expiresAtMs: ledger.nowMs + 5_000 })))
    const late = ledger.submit(swap('bob', 'cid', MONEY, one(ruby)))
    deliver(ledger, ['bob', HOME])
    expect(exchange()).toMatchObject({ offers: [{ txnId: late }], pairs: [{}] })
    ledger.pass(900_000)
    expect(exchange()).toMatchObject({ offers: [], pairs: [{}], expired: [{ txnId: late }] })
    deliver(ledger, [HOME, at(opal)], [at(opal), HOME])
    ledger.pass(3_600_000)
    ledger.drain()
    expect([...both, late].map(statusOf)).toEqual(['completed', 'completed', 'exchange_expired'])
    expectOwners('bob', 'ann')
  })

  test(`waits under one group ID with ${MAX_OFFERS} at most, pairs among them; what does not fit is let go before that is said`, () => {
    const jade = gems.minted('jade')
    const both = paired(...trades())
    // The pair stays as it is: what its home sends waits.
    for (let index = 0; index < MAX_OFFERS - 1; index += 1) {
      ledger.submit(swap('bob', 'ann', { tokenId: 'BASE', amount: `0.${100 + index}` }, one(ruby)))
      deliver(ledger, ['bob', HOME])
    }
    expect(exchange()).toMatchObject({ pairs: [{}] })
    expect(exchange()?.offers).toHaveLength(MAX_OFFERS - 1)
    const tooMany = ledger.submit(swap('ann', 'bob', one(jade), { tokenId: 'BASE', amount: '7' }))
    deliver(ledger, ['ann', at(jade)], [at(jade), 'ann'], ['ann', HOME], [HOME, 'ann'])
    expect(seen(tooMany, jade)).toEqual(['pending', 'held'])
    deliver(ledger, ['ann', at(jade)], [at(jade), 'ann'])
    expect(seen(tooMany, jade)).toEqual(['exchange_limit', 'active'])
    ledger.drain()
    expect(both.map(statusOf)).toEqual(['completed', 'completed'])
  })
})
