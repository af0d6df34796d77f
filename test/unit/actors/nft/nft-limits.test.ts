/** An NFT counts against its account's limit of assets from its reservation until it leaves (D2). */
import { beforeEach, describe, expect, test } from 'vitest'
import { Balances } from '../../../../actors/account/balances.ts'
import { Holds } from '../../../../actors/account/holds.ts'
import { type Balance, NOTHING_HELD, type PendingHold } from '../../../../actors/account/state.ts'
import { MAX_ASSETS } from '../../../../actors/account/turn.ts'
import { GENESIS } from '../../../../actors/audit-chain.ts'
import { GROUP, handing, legOf, termsOf, type World } from '../../../model/mini-clients.ts'
import { burning, Gems } from './gems.ts'

const FAILED_FULL = { status: 'failed', failure: { code: 'asset_limit' } }

let ledger: World
let classId: string
let ruby: string
let jade: string

beforeEach(() => {
  const gems = new Gems()
  ;({ ledger, classId, ruby } = gems)
  jade = gems.minted('jade')
})

interface Crowd {
  readonly nfts?: number
  readonly promised?: number
  readonly balances?: number
}

/** Adds the account `dan` with this many NFTs, reserved places and zero balances. */
function crowd({ nfts = 0, promised = 0, balances = 0 }: Crowd): void {
  const [minting] = ledger.transactions.values()
  if (minting === undefined) throw new Error('Nothing has been minted.')
  const holds = Array.from({ length: promised }, (_, index): [string, PendingHold] => {
    const txnId = `exchange-${index}`
    const room = { tokenId: ruby, amount: '1' }
    return [txnId, { kind: 'pending', transaction: { ...minting, txnId }, reserves: false, room, reportsOn: null }]
  })
  const held: Balance = { ...NOTHING_HELD, updatedAtMs: 1 }
  ledger.put({
    ...ledger.account('cid'),
    accountId: 'dan',
    // The first asset it receives starts its chain.
    sequence: -1,
    tip: GENESIS,
    nftCount: nfts,
    nftRoom: promised,
    holds: Holds.of(holds),
    balances: Balances.of(Array.from({ length: balances }, (_, index) => [`T${index}`, held])),
  })
}

describe(`an account accepts ${MAX_ASSETS} assets and refuses the next one`, () => {
  test.for<[string, Crowd]>([
    ['NFTs', { nfts: MAX_ASSETS - 1 }],
    ['places reserved for NFTs', { promised: MAX_ASSETS - 1 }],
    ['balances', { balances: MAX_ASSETS - 1 }],
    ['some of each', { nfts: 3_000, promised: 3_000, balances: 3_999 }],
  ])('counting %s', ([, assets]) => {
    crowd(assets)
    expect(ledger.settled(handing(ruby, 'ann', 'dan')).status).toBe('completed')
    expect(ledger.settled(handing(jade, 'ann', 'dan'))).toMatchObject(FAILED_FULL)
    expect(ledger.nftSeen(jade)).toMatchObject({ owner: 'ann', status: 'active' })
    const { nfts = 0, promised = 0 } = assets
    expect(ledger.counts('dan')).toEqual({ owned: nfts + 1, promised })
  })

  test('an unused balance without reservations does not count', () => {
    crowd({ nfts: MAX_ASSETS - 1 })
    ledger.states.set('dan', { ...ledger.account('dan'), balances: Balances.of([['GOLD', NOTHING_HELD]]) })
    expect(ledger.settled(handing(ruby, 'ann', 'dan')).status).toBe('completed')
  })

  test('a new token counts, and more of an existing token does not', () => {
    ledger.issue({ issuer: 'ann', totalSupply: '10' })
    crowd({ nfts: MAX_ASSETS - 1 })
    const statuses = ['1', '2'].map((amount) => ledger.transaction(ledger.fund('dan', amount)).status)
    expect(statuses).toEqual(['completed', 'completed'])
    const gold = { accountId: 'ann', type: 'transfer', amount: '1', tokenId: 'GOLD', toAccountId: 'dan' } as const
    expect(ledger.settled(gold)).toMatchObject(FAILED_FULL)
  })

  test('an NFT that leaves frees its place', () => {
    crowd({ nfts: MAX_ASSETS - 1 })
    ledger.settled(handing(ruby, 'ann', 'dan'))
    ledger.settled(handing(ruby, 'dan', 'cid'))
    expect(ledger.settled(handing(jade, 'ann', 'dan')).status).toBe('completed')
    expect(ledger.settled(handing(ruby, 'cid', 'dan'))).toMatchObject(FAILED_FULL)
    ledger.settled(burning(jade, 'dan'))
    expect(ledger.settled(handing(ruby, 'cid', 'dan')).status).toBe('completed')
  })
})

describe('a place is reserved', () => {
  const exchange = { type: 'exchange', amount: '1', groupId: GROUP, accountId: 'dan', toAccountId: 'ann' } as const

  test('for the NFT that an exchange requests, until the exchange fails', () => {
    crowd({ nfts: MAX_ASSETS - 2 })
    ledger.fund('dan', '5')
    const gives = { ...exchange, tokenId: 'BASE', receive: { tokenId: jade, amount: '1' } }
    const waiting = ledger.submit({ ...gives, expiresAtMs: ledger.nowMs + 1_000 })
    expect(ledger.counts('dan')).toEqual({ owned: MAX_ASSETS - 2, promised: 1 })
    expect(ledger.settled(handing(ruby, 'ann', 'dan'))).toMatchObject(FAILED_FULL)
    expect(ledger.settled({ ...gives, receive: { tokenId: ruby, amount: '1' } })).toMatchObject(FAILED_FULL)
    ledger.pass(1_000)
    ledger.drain()
    expect(ledger.transaction(waiting).failure?.code).toBe('exchange_expired')
    expect(ledger.settled(handing(ruby, 'ann', 'dan')).status).toBe('completed')
  })

  test('for an incoming leg from its sender’s signature until the group ends', () => {
    crowd({ nfts: MAX_ASSETS - 1 })
    const leg = { type: 'transfer', account_id: 'ann', to_account_id: 'dan', amount: '1', class_id: classId }
    const burns = { type: 'burn', account_id: 'ann', amount: '1', class_id: classId, instance_id: 'jade' }
    const terms = termsOf([{ ...leg, instance_id: 'ruby' }, burns])
    const tooMuch = termsOf(
      [
        { ...leg, instance_id: 'ruby' },
        { ...leg, instance_id: 'jade' },
      ],
      { groupId: '2f0c2c1e-7d35-4b4e-9d2a-0f4f6f1d2a33' },
    )
    expect(ledger.agree(tooMuch).kind).toBe('group_registered')
    expect(ledger.counts('dan')).toEqual({ owned: MAX_ASSETS - 1, promised: 0 })
    ledger.settled(legOf(tooMuch, 0))
    expect(ledger.counts('dan')).toEqual({ owned: MAX_ASSETS - 1, promised: 1 })
    ledger.settled(legOf(tooMuch, 1))
    expect(ledger.groupSeen(tooMuch.groupId)).toMatchObject({ status: 'reverted', failure: { code: 'asset_limit' } })
    expect(ledger.counts('dan')).toEqual({ owned: MAX_ASSETS - 1, promised: 0 })
    expect(ledger.agree(terms).kind).toBe('group_registered')
    ledger.settled(legOf(terms, 0))
    expect(ledger.counts('dan')).toEqual({ owned: MAX_ASSETS - 1, promised: 1 })
    expect(ledger.settled(handing(jade, 'ann', 'dan'))).toMatchObject(FAILED_FULL)
    ledger.revert(GROUP)
    expect(ledger.counts('dan')).toEqual({ owned: MAX_ASSETS - 1, promised: 0 })
    expect(ledger.settled(handing(jade, 'ann', 'dan')).status).toBe('completed')
  })

  test('and its NFT arrives although the account is full by then', () => {
    crowd({ nfts: MAX_ASSETS - 2 })
    ledger.fund('dan', '5')
    const bobs = ledger.submit({ ...exchange, tokenId: 'BASE', receive: { tokenId: jade, amount: '1' } })
    ledger.drain()
    const receive = { tokenId: 'BASE', amount: '1' }
    const mirror = { ...handing(jade, 'ann', 'dan'), type: 'exchange', groupId: GROUP, receive } as const
    expect(ledger.settled(mirror).status).toBe('completed')
    expect(ledger.transaction(bobs).status).toBe('completed')
    expect(ledger.counts('dan')).toEqual({ owned: MAX_ASSETS - 1, promised: 0 })
  })
})
