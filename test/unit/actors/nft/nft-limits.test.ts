/** An NFT counts against its account's limit of assets from its reservation until it leaves (D2). */
import { beforeEach, describe, expect, test } from 'vitest'
import { Balances } from '../../../../actors/account/balances.ts'
import { Holds } from '../../../../actors/account/holds.ts'
import { type Balance, NOTHING_HELD, type PendingHold } from '../../../../actors/account/state.ts'
import { MAX_ASSETS } from '../../../../actors/account/turn.ts'
import { GENESIS } from '../../../../actors/audit-chain.ts'
import {
  agree,
  counts,
  fund,
  GROUP,
  groupSeen,
  handing,
  issue,
  legOf,
  nftSeen,
  revert,
  settled,
  submit,
  termsOf,
} from '../../../model/mini-clients.ts'
import type { MiniLedger } from '../../../model/mini-ledger.ts'
import { burning, Gems } from './gems.ts'

const FAILED_FULL = { status: 'failed', failure: { code: 'asset_limit' } }

let ledger: MiniLedger
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
    expect(settled(ledger, handing(ruby, 'ann', 'dan')).status).toBe('completed')
    expect(settled(ledger, handing(jade, 'ann', 'dan'))).toMatchObject(FAILED_FULL)
    expect(nftSeen(ledger, jade)).toMatchObject({ owner: 'ann', status: 'active' })
    const { nfts = 0, promised = 0 } = assets
    expect(counts(ledger, 'dan')).toEqual({ owned: nfts + 1, promised })
  })

  test('an unused balance without reservations does not count', () => {
    crowd({ nfts: MAX_ASSETS - 1 })
    ledger.states.set('dan', { ...ledger.account('dan'), balances: Balances.of([['GOLD', NOTHING_HELD]]) })
    expect(settled(ledger, handing(ruby, 'ann', 'dan')).status).toBe('completed')
  })

  test('a new token counts, and more of an existing token does not', () => {
    issue(ledger, { issuer: 'ann', totalSupply: '10' })
    crowd({ nfts: MAX_ASSETS - 1 })
    const statuses = ['1', '2'].map((amount) => ledger.transaction(fund(ledger, 'dan', amount)).status)
    expect(statuses).toEqual(['completed', 'completed'])
    const gold = { accountId: 'ann', type: 'transfer', amount: '1', tokenId: 'GOLD', toAccountId: 'dan' } as const
    expect(settled(ledger, gold)).toMatchObject(FAILED_FULL)
  })

  test('an NFT that leaves frees its place', () => {
    crowd({ nfts: MAX_ASSETS - 1 })
    settled(ledger, handing(ruby, 'ann', 'dan'))
    settled(ledger, handing(ruby, 'dan', 'cid'))
    expect(settled(ledger, handing(jade, 'ann', 'dan')).status).toBe('completed')
    expect(settled(ledger, handing(ruby, 'cid', 'dan'))).toMatchObject(FAILED_FULL)
    settled(ledger, burning(jade, 'dan'))
    expect(settled(ledger, handing(ruby, 'cid', 'dan')).status).toBe('completed')
  })
})

describe('a place is reserved', () => {
  const exchange = { type: 'exchange', amount: '1', groupId: GROUP, accountId: 'dan', toAccountId: 'ann' } as const

  test('for the NFT that an exchange requests, until the exchange fails', () => {
    crowd({ nfts: MAX_ASSETS - 2 })
    fund(ledger, 'dan', '5')
    const gives = { ...exchange, tokenId: 'BASE', receive: { tokenId: jade, amount: '1' } }
    const waiting = submit(ledger, { ...gives, expiresAtMs: ledger.nowMs + 1_000 })
    expect(counts(ledger, 'dan')).toEqual({ owned: MAX_ASSETS - 2, promised: 1 })
    expect(settled(ledger, handing(ruby, 'ann', 'dan'))).toMatchObject(FAILED_FULL)
    expect(settled(ledger, { ...gives, receive: { tokenId: ruby, amount: '1' } })).toMatchObject(FAILED_FULL)
    ledger.pass(1_000)
    ledger.drain()
    expect(ledger.transaction(waiting).failure?.code).toBe('exchange_expired')
    expect(settled(ledger, handing(ruby, 'ann', 'dan')).status).toBe('completed')
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
    expect(agree(ledger, tooMuch).kind).toBe('group_registered')
    expect(counts(ledger, 'dan')).toEqual({ owned: MAX_ASSETS - 1, promised: 0 })
    settled(ledger, legOf(tooMuch, 0))
    expect(counts(ledger, 'dan')).toEqual({ owned: MAX_ASSETS - 1, promised: 1 })
    settled(ledger, legOf(tooMuch, 1))
    expect(groupSeen(ledger, tooMuch.groupId)).toMatchObject({ status: 'reverted', failure: { code: 'asset_limit' } })
    expect(counts(ledger, 'dan')).toEqual({ owned: MAX_ASSETS - 1, promised: 0 })
    expect(agree(ledger, terms).kind).toBe('group_registered')
    settled(ledger, legOf(terms, 0))
    expect(counts(ledger, 'dan')).toEqual({ owned: MAX_ASSETS - 1, promised: 1 })
    expect(settled(ledger, handing(jade, 'ann', 'dan'))).toMatchObject(FAILED_FULL)
    revert(ledger, GROUP)
    expect(counts(ledger, 'dan')).toEqual({ owned: MAX_ASSETS - 1, promised: 0 })
    expect(settled(ledger, handing(jade, 'ann', 'dan')).status).toBe('completed')
  })

  test('and its NFT arrives although the account is full by then', () => {
    crowd({ nfts: MAX_ASSETS - 2 })
    fund(ledger, 'dan', '5')
    const bobs = submit(ledger, { ...exchange, tokenId: 'BASE', receive: { tokenId: jade, amount: '1' } })
    ledger.drain()
    const receive = { tokenId: 'BASE', amount: '1' }
    const mirror = { ...handing(jade, 'ann', 'dan'), type: 'exchange', groupId: GROUP, receive } as const
    expect(settled(ledger, mirror).status).toBe('completed')
    expect(ledger.transaction(bobs).status).toBe('completed')
    expect(counts(ledger, 'dan')).toEqual({ owned: MAX_ASSETS - 1, promised: 0 })
  })
})
