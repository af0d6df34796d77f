/** Goal: an NFT that an administrator has given back goes back once, from whoever has it still, or it is said why not (G3). */
import { beforeEach, describe, expect, test } from 'vitest'
import { MAX_ASSETS } from '../../../actors/account/turn.ts'
import {
  ADMIN,
  balance,
  change,
  classOf,
  counts,
  free,
  fund,
  GROUP,
  groupSeen,
  handing,
  lastEntry,
  minted,
  nftSeen,
  open,
  orderedOn,
  ownersOf,
  revert,
  settled,
  submit,
} from '../../model/mini-clients.ts'
import { countAtRest } from '../../model/mini-ledger-count.ts'
import { MiniLedger } from '../../model/mini-ledger.ts'
import { failures } from './agreed-groups.ts'

let ledger: MiniLedger
let classId: string
let ruby: string
let sent: string
let received: string

/** Ann has handed the ruby to Bob, in a linked group. */
beforeEach(() => {
  ledger = new MiniLedger()
  open(ledger, 'ann', 'bob', 'cid')
  classId = classOf(ledger, 'ann')
  ruby = minted(ledger, { accountId: 'ann', classId, instanceId: 'ruby' })
  const transfer = settled(ledger, { ...handing(ruby, 'ann', 'bob'), groupId: GROUP, metadata: { note: 'paid' } })
  sent = transfer.txnId
  received = transfer.counterTxnId ?? ''
})

function undo(...txnIds: readonly string[]) {
  return revert(ledger, GROUP, { caller: ADMIN, txnIds })
}

/** Nothing is on its way, and each counts what is its own. */
function expectAt(owner: string): void {
  expect(nftSeen(ledger, ruby)).toMatchObject({ owner, status: 'active' })
  for (const { holds } of ledger.accounts()) expect(holds.size).toBe(0)
  countAtRest(ledger)
}

describe('a give-back', () => {
  test.for(['sender', 'receiver'] as const)(
    'D10: is a transfer of the ledger’s own, where the %s’s is named',
    (side) => {
      undo(side === 'sender' ? sent : received)
      const [back] = orderedOn(ledger, 'bob').filter(({ type }) => type === 'transfer')
      const [again] = orderedOn(ledger, 'ann')
      expect(back).toMatchObject({
        status: 'completed',
        amount: '1',
        tokenId: ruby,
        groupId: GROUP,
        toAccountId: 'ann',
        compensates: received,
        counterTxnId: again?.txnId,
      })
      expect(again).toMatchObject({
        type: 'credit',
        amount: '1',
        tokenId: ruby,
        groupId: GROUP,
        fromAccountId: 'bob',
        compensates: sent,
        counterTxnId: back?.txnId,
      })
      expect(ledger.transaction(sent).compensatedBy).toBe(again?.txnId)
      expect(ledger.transaction(received).compensatedBy).toBe(back?.txnId)
      expect(lastEntry(ledger, 'ann')).toMatchObject({ compensates: sent, class_id: classId, instance_id: 'ruby' })
      expect(lastEntry(ledger, 'bob')).toMatchObject({ compensates: received, class_id: classId, instance_id: 'ruby' })
      expect(groupSeen(ledger, GROUP)).toMatchObject({
        status: 'linked',
        compensations: [
          { compensates: received, txnId: back?.txnId },
          { compensates: sent, txnId: again?.txnId },
        ],
        partialFailures: [],
      })
      expect(ownersOf(ledger, ruby).map(([, owner]) => owner)).toEqual(['ann', 'bob', 'ann'])
      expectAt('ann')
    },
  )

  test('G3: is made once where both sides are named: the other finds it under way', () => {
    undo(sent, received)
    expect(failures(ledger)).toEqual([[sent, 'already_compensated']])
    expect(orderedOn(ledger, 'bob').filter(({ type }) => type === 'transfer')).toHaveLength(1)
    expectAt('ann')
  })

  test('G3: is not made again, however often it is asked for', () => {
    undo(sent)
    const transactions = ledger.transactions.size
    undo(sent)
    undo(received)
    expect(failures(ledger)).toEqual([[received, 'already_compensated']])
    expect(ledger.transactions.size).toBe(transactions)
    expectAt('ann')
  })

  test('is not refused for the wishes of its receiver, nor for freezes', () => {
    change(ledger, 'ann', { incoming: 'refuse', status: 'frozen' })
    change(ledger, 'bob', { status: 'frozen' })
    undo(sent)
    expect(failures(ledger)).toEqual([])
    expectAt('ann')
  })

  test('comes from an account that has got it back since', () => {
    settled(ledger, handing(ruby, 'bob', 'cid'))
    settled(ledger, handing(ruby, 'cid', 'bob'))
    undo(sent)
    expectAt('ann')
  })

  test('of tokens in the same group is made beside it', () => {
    fund(ledger, 'bob', '10')
    const paid = submit(ledger, { accountId: 'bob', type: 'transfer', amount: '4', toAccountId: 'ann', groupId: GROUP })
    ledger.drain()
    undo(sent, paid)
    expect(balance(ledger, 'bob')).toEqual(free('10'))
    expect(failures(ledger)).toEqual([])
    expectAt('ann')
  })

  test('cannot be given back in its turn', () => {
    undo(sent)
    const [back] = orderedOn(ledger, 'bob').filter(({ type }) => type === 'transfer')
    undo(back?.txnId ?? '')
    expect(failures(ledger)).toEqual([[back?.txnId, 'not_compensable']])
    expectAt('ann')
  })
})

describe('a give-back fails', () => {
  const exchange = { type: 'exchange', groupId: '2f0c2c1e-7d35-4b4e-9d2a-0f4f6f1d2a33' } as const

  test('not_owner: once it has gone on, and again when it is asked for again', () => {
    settled(ledger, handing(ruby, 'bob', 'cid'))
    for (let time = 1; time <= 2; time += 1) {
      undo(sent)
      expect(failures(ledger)).toEqual([[sent, 'not_owner']])
      const backs = orderedOn(ledger, 'bob').filter(({ type }) => type === 'transfer')
      expect(backs.map(({ status, failure }) => [status, failure?.code])).toEqual(
        Array.from({ length: time }, () => ['failed', 'not_owner']),
      )
      expectAt('cid')
    }
    expect(ledger.transaction(sent).compensatedBy).toBe(null)
    expect(ledger.transaction(received).compensatedBy).toBe(null)
  })

  test('not_owner: once it is burned', () => {
    settled(ledger, { accountId: 'bob', type: 'burn', amount: '1', tokenId: ruby })
    undo(received)
    expect(failures(ledger)).toEqual([[received, 'not_owner']])
    expect(nftSeen(ledger, ruby)).toMatchObject({ owner: 'bob', status: 'burned' })
  })

  test('held: while an exchange has it; when it is free, it goes back', () => {
    const receive = { tokenId: 'BASE', amount: '1' }
    settled(ledger, { ...handing(ruby, 'bob', 'cid'), ...exchange, receive })
    undo(sent)
    expect(failures(ledger)).toEqual([[sent, 'held']])
    expect(nftSeen(ledger, ruby)).toMatchObject({ owner: 'bob', status: 'held' })
    ledger.pass(900_000)
    ledger.drain()
    undo(sent)
    expect(failures(ledger)).toEqual([])
    expect(groupSeen(ledger, GROUP)?.compensations).toHaveLength(2)
    expectAt('ann')
  })

  test('held: where its owner has ordered a transfer meanwhile; it is not taken from under it', () => {
    submit(ledger, handing(ruby, 'bob', 'cid'))
    undo(received)
    expect(failures(ledger)).toEqual([[received, 'held']])
    expectAt('cid')
  })

  test('asset_limit, account_closed: because whoever had it cannot take it; it stays where it is', () => {
    const ann = ledger.account('ann')
    ledger.states.set('ann', { ...ann, nftCount: MAX_ASSETS })
    undo(sent)
    expect(failures(ledger)).toEqual([[sent, 'asset_limit']])
    ledger.states.set('ann', { ...ledger.account('ann'), nftCount: 0 })
    change(ledger, 'ann', { status: 'closed' })
    undo(received)
    expect(failures(ledger)).toEqual([
      [sent, 'asset_limit'],
      [received, 'account_closed'],
    ])
    expect(counts(ledger, 'bob')).toEqual({ owned: 1, promised: 0 })
    expectAt('bob')
  })

  test('account_closed: because the sender, who is asked first, is closed', () => {
    change(ledger, 'ann', { status: 'closed' })
    undo(sent)
    expect(failures(ledger)).toEqual([[sent, 'account_closed']])
    expect(orderedOn(ledger, 'bob').filter(({ type }) => type === 'transfer')).toEqual([])
    expectAt('bob')
  })

  test('not_compensable: of a mint, a burn, an exchange, and of what failed', () => {
    const opal = minted(ledger, { accountId: 'ann', classId, instanceId: 'opal', owner: 'cid' })
    const mints = [...ledger.transactions.values()].filter(({ tokenId }) => tokenId === opal)
    expect(mints.map(({ type }) => type).sort()).toEqual(['credit', 'mint'])
    fund(ledger, 'cid', '1')
    const base = { tokenId: 'BASE', amount: '1' }
    submit(ledger, { ...handing(ruby, 'bob', 'cid'), type: 'exchange', groupId: GROUP, receive: base })
    const receive = { tokenId: ruby, amount: '1' }
    const swapped = settled(ledger, {
      ...base,
      accountId: 'cid',
      type: 'exchange',
      toAccountId: 'bob',
      groupId: GROUP,
      receive,
    })
    expect(swapped.status).toBe('completed')
    const burned = settled(ledger, { accountId: 'cid', type: 'burn', amount: '1', tokenId: opal, groupId: GROUP })
    const failed = settled(ledger, { ...handing(ruby, 'bob', 'ann'), groupId: GROUP })
    expect(failed.status).toBe('failed')
    const named = [...mints, swapped, burned, failed].map(({ txnId }) => txnId)
    undo(...named, swapped.counterTxnId ?? '')
    expect(failures(ledger).map(([, code]) => code)).toEqual(Array.from({ length: 6 }, () => 'not_compensable'))
    expect(nftSeen(ledger, opal)?.status).toBe('burned')
    expectAt('cid')
  })
})
