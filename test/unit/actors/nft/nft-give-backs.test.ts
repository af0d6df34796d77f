/** A returned NFT goes back once, from its present owner, or the reply names the failure (G3). */
import { beforeEach, describe, expect, test } from 'vitest'
import { MAX_ASSETS } from '../../../../actors/account/turn.ts'
import { ADMIN, GROUP, handing, type World } from '../../../model/mini-clients.ts'
import { failures } from '../group/agreed-groups.ts'
import { expectAtRest, Gems, offering } from './gems.ts'

let gems: Gems
let ledger: World
let ruby: string
let sent: string
let received: string

/** Ann transfers the ruby to Bob in a linked group. */
beforeEach(() => {
  gems = new Gems()
  ;({ ledger, ruby } = gems)
  const transfer = ledger.settled({ ...handing(ruby, 'ann', 'bob'), groupId: GROUP, metadata: { note: 'paid' } })
  sent = transfer.txnId
  received = transfer.counterTxnId ?? ''
})

function undo(...txnIds: readonly string[]) {
  return ledger.revert(GROUP, { caller: ADMIN, txnIds })
}

/** Transfers of the ledger's own that give back. */
function backs() {
  return ledger.orderedOn('bob').filter(({ type }) => type === 'transfer')
}

describe('a give-back', () => {
  test.for(['sender', 'receiver'] as const)(
    'D10: is a transfer of the ledger’s own, where the %s’s is named',
    (side) => {
      undo(side === 'sender' ? sent : received)
      const [back] = backs()
      const [again] = ledger.orderedOn('ann')
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
      expect(ledger.lastEntry('ann')).toMatchObject({ compensates: sent, class_id: gems.classId, instance_id: 'ruby' })
      expect(ledger.lastEntry('bob')).toMatchObject({
        compensates: received,
        class_id: gems.classId,
        instance_id: 'ruby',
      })
      expect(ledger.groupSeen(GROUP)).toMatchObject({
        status: 'linked',
        compensations: [
          { compensates: received, txnId: back?.txnId },
          { compensates: sent, txnId: again?.txnId },
        ],
        partialFailures: [],
      })
      expect(ledger.ownersOf(ruby).map(([, owner]) => owner)).toEqual(['ann', 'bob', 'ann'])
      expectAtRest(gems, 'ann')
    },
  )

  test('G3: is made once although the request names both sides', () => {
    undo(sent, received)
    expect(failures(ledger)).toEqual([[sent, 'already_compensated']])
    expect(backs()).toHaveLength(1)
    expectAtRest(gems, 'ann')
  })

  test('G3: is not repeated by a repeated request', () => {
    undo(sent)
    const transactions = ledger.transactions.size
    undo(sent)
    undo(received)
    expect(failures(ledger)).toEqual([[received, 'already_compensated']])
    expect(ledger.transactions.size).toBe(transactions)
    expectAtRest(gems, 'ann')
  })

  test('succeeds although accounts are frozen or refuse incoming value', () => {
    ledger.change('ann', { incoming: 'refuse', status: 'frozen' })
    ledger.change('bob', { status: 'frozen' })
    undo(sent)
    expect(failures(ledger)).toEqual([])
    expectAtRest(gems, 'ann')
  })
})

describe('a give-back fails', () => {
  test('not_owner: once it has gone on, and again when it is asked for again', () => {
    ledger.settled(handing(ruby, 'bob', 'cid'))
    for (let time = 1; time <= 2; time += 1) {
      undo(sent)
      expect(failures(ledger)).toEqual([[sent, 'not_owner']])
      expect(backs().map(({ status, failure }) => [status, failure?.code])).toEqual(
        Array.from({ length: time }, () => ['failed', 'not_owner']),
      )
      expectAtRest(gems, 'cid')
    }
    expect(ledger.transaction(sent).compensatedBy).toBe(null)
    expect(ledger.transaction(received).compensatedBy).toBe(null)
  })

  test('held: while an exchange holds the NFT; it succeeds afterwards', () => {
    ledger.settled(offering(ruby, 'bob', 'cid'))
    undo(sent)
    expect(failures(ledger)).toEqual([[sent, 'held']])
    expect(ledger.nftSeen(ruby)).toMatchObject({ owner: 'bob', status: 'held' })
    ledger.pass(900_000)
    ledger.drain()
    undo(sent)
    expect(failures(ledger)).toEqual([])
    expect(ledger.groupSeen(GROUP)?.compensations).toHaveLength(2)
    expectAtRest(gems, 'ann')
  })

  test('held: where its owner has ordered a transfer meanwhile; it is not taken from under it', () => {
    ledger.submit(handing(ruby, 'bob', 'cid'))
    undo(received)
    expect(failures(ledger)).toEqual([[received, 'held']])
    expectAtRest(gems, 'cid')
  })

  test('asset_limit, account_closed: the former owner cannot take it, so it stays where it is', () => {
    const ann = ledger.account('ann')
    ledger.states.set('ann', { ...ann, nftCount: MAX_ASSETS })
    undo(sent)
    expect(failures(ledger)).toEqual([[sent, 'asset_limit']])
    ledger.states.set('ann', { ...ledger.account('ann'), nftCount: 0 })
    ledger.change('ann', { status: 'closed' })
    undo(received)
    expect(failures(ledger)).toEqual([
      [sent, 'asset_limit'],
      [received, 'account_closed'],
    ])
    expectAtRest(gems, 'bob')
  })
})
