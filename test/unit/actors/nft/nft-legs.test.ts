/** Delivery against payment: the NFT is on hold and keeps its owner until the group ends (L1, L5, G2, I8). */
import { beforeEach, describe, expect, test } from 'vitest'
import { accountAddress, groupAddress } from '../../../../actors/address.ts'
import type { Terms } from '../../../../actors/group/terms.ts'
import { mintCommand, registerGroupCommand } from '../../../support/accounts.ts'
import {
  codeOf,
  free,
  GROUP,
  handing,
  type LegFields,
  legOf,
  termsOf,
  type World,
} from '../../../model/mini-clients.ts'
import { agreed, deliver } from '../group/agreed-groups.ts'
import { ELSEWHERE, expectAtRest, Gems, PAYS } from './gems.ts'

const AT_HOME = `group ${GROUP}`
const TIMEOUT_MS = 900_000

let gems: Gems
let ledger: World
let ruby: string
let home: string

function scene(): void {
  gems = new Gems()
  ;({ ledger, ruby } = gems)
  home = `instance ${ruby}`
}

beforeEach(scene)

/** Ann owns the free ruby, and Bob the money. */
function expectNothingMoved(): void {
  expect(ledger.ownersOf(ruby)).toEqual([['mint', 'ann']])
  expect(ledger.balance('bob')).toEqual(free('100'))
  expectAtRest(gems, 'ann')
}

function expectReverted(): void {
  expect(ledger.groupSeen(GROUP)?.status).toBe('reverted')
  expectNothingMoved()
}

describe('delivery against payment', () => {
  test.for([
    ['the NFT', [0, 1]],
    ['the payment', [1, 0]],
  ] as const)('settles, %s first: each leg is completed before, and takes effect with the others', ([, order]) => {
    const terms = agreed(ledger, gems.gives('ann', 'cid'), PAYS)
    const [first, second] = order
    ledger.settled(legOf(terms, first))
    expect(ledger.groupSeen(GROUP)?.status).toBe('open')
    expect(ledger.nftSeen(ruby)).toMatchObject({ owner: 'ann', status: first === 0 ? 'held' : 'active' })
    expect(ledger.counts('cid')).toEqual({ owned: 0, promised: first === 0 ? 1 : 0 })
    ledger.settled(legOf(terms, second))
    expect(ledger.groupSeen(GROUP)).toMatchObject({
      status: 'settled',
      legs: [{ status: 'completed' }, { status: 'completed' }],
      compensations: [],
    })
    expect([ledger.balance('ann'), ledger.balance('bob')]).toEqual([free('30'), free('70')])
    expectAtRest(gems, 'cid')
  })

  test('is an entry on each side once the NFT is held, and one of its history once it settles', () => {
    const terms = agreed(ledger, gems.gives(), PAYS)
    const sent = ledger.settled({ ...legOf(terms, 0), metadata: { note: 'deed' } })
    const received = ledger.orderedOn('bob').at(-1)
    expect(sent).toMatchObject({ status: 'completed', groupId: GROUP, toAccountId: 'bob', counterTxnId: null })
    expect(received).toMatchObject({
      type: 'credit',
      amount: '1',
      tokenId: ruby,
      fromAccountId: 'ann',
      counterTxnId: sent.txnId,
      metadata: { note: 'deed' },
      status: 'completed',
    })
    const named = { class_id: gems.classId, instance_id: 'ruby', group_id: GROUP }
    expect(ledger.lastEntry('ann')).toMatchObject({ type: 'transfer', ...named })
    expect(ledger.lastEntry('bob')).toMatchObject({ type: 'credit', ...named })
    expect(ledger.nftEvents.get(ruby)).toHaveLength(1)
    ledger.settled(legOf(terms, 1))
    expect(ledger.nftEvents.get(ruby)?.at(-1)).toMatchObject({ type: 'transfer', to: 'bob', txnId: sent.txnId })
  })

  test('the leg is admitted once, and pending while its home has not said that it holds the NFT', () => {
    const terms = agreed(ledger, gems.gives(), PAYS)
    const txnId = ledger.submit(legOf(terms, 0))
    expect(codeOf(ledger.submission(legOf(terms, 0)))).toBe('group_terms_unknown')
    deliver(ledger, ['ann', home])
    expect(ledger.transaction(txnId)).toMatchObject({ status: 'pending', auditHash: null })
    expect(ledger.groupSeen(GROUP)?.legs[0]?.status).toBe('expected')
    deliver(ledger, [home, 'ann'])
    expect(ledger.transaction(txnId).status).toBe('completed')
    expect(codeOf(ledger.submission(legOf(terms, 0)))).toBe('group_terms_unknown')
  })

  test('settles although its owner is frozen and its receiver refuses incoming value', () => {
    const terms = agreed(ledger, gems.gives(), PAYS)
    ledger.settled(legOf(terms, 0))
    ledger.change('ann', { status: 'frozen' })
    ledger.change('bob', { incoming: 'refuse' })
    ledger.settled(legOf(terms, 1))
    expect(ledger.nftSeen(ruby)).toMatchObject({ owner: 'bob', status: 'active' })
  })

  test('the receiver may transfer a settled NFT before its account receives the message', () => {
    const terms = agreed(ledger, gems.gives(), PAYS)
    ledger.settled(legOf(terms, 0))
    ledger.submit(legOf(terms, 1))
    deliver(ledger, ['bob', AT_HOME], [AT_HOME, 'ann'], ['ann', AT_HOME], [AT_HOME, home])
    const on = [ruby, gems.opal].map((id) => ledger.submit(handing(id, 'bob', 'cid')))
    const opal = `instance ${gems.opal}`
    for (const at of [home, opal]) deliver(ledger, ['bob', at], [at, 'cid'], ['cid', at], [at, 'bob'])
    expect(on.map((txnId) => ledger.transaction(txnId).status)).toEqual(['completed', 'completed'])
    expect(ledger.counts('bob')).toEqual({ owned: -1, promised: 1 })
    ledger.drain()
    expectAtRest(gems, 'cid', 'cid')
  })
})

describe('a group that reverts', () => {
  test('because its payment fails frees the NFT', () => {
    const terms = agreed(ledger, gems.gives(), { ...PAYS, amount: '101' })
    ledger.settled(legOf(terms, 0))
    expect(ledger.nftSeen(ruby)?.status).toBe('held')
    expect(ledger.settled(legOf(terms, 1)).failure?.code).toBe('insufficient_funds')
    expect(ledger.groupSeen(GROUP)?.legs).toMatchObject([{ status: 'compensated' }, { status: 'failed' }])
    expectReverted()
  })

  test('once it is held: a transfer returns it on both sides, each naming what it undoes', () => {
    const terms = agreed(ledger, gems.gives(), PAYS)
    const { txnId: sent } = ledger.settled(legOf(terms, 0))
    ledger.pass(TIMEOUT_MS)
    ledger.drain()
    const [returned] = ledger.orderedOn('ann')
    const [received, taken] = ledger.orderedOn('bob').slice(-2)
    const common = { type: 'transfer', amount: '1', tokenId: ruby, groupId: GROUP, status: 'completed' }
    expect(returned).toMatchObject({ ...common, compensates: sent, fromAccountId: 'bob', toAccountId: null })
    expect(taken).toMatchObject({ ...common, compensates: received?.txnId, toAccountId: 'ann', fromAccountId: null })
    expect(ledger.transaction(sent).compensatedBy).toBe(returned?.txnId)
    expect(ledger.groupSeen(GROUP)).toMatchObject({
      legs: [{ status: 'compensated', txnId: sent }, { status: 'expected' }],
      partialFailures: [],
    })
    expect(ledger.groupSeen(GROUP)?.compensations).toHaveLength(2)
    expectReverted()
  })

  test('while the hold at the NFT’s home is pending: the account waits for the home, releases the NFT, then fails', () => {
    const terms = agreed(ledger, gems.gives(), PAYS)
    const txnId = ledger.submit(legOf(terms, 0))
    ledger.pass(TIMEOUT_MS)
    deliver(ledger, [AT_HOME, 'ann'], ['ann', home])
    expect([ledger.transaction(txnId).status, ledger.nftSeen(ruby)?.status]).toEqual(['pending', 'held'])
    deliver(ledger, [home, 'ann'], ['ann', home])
    expect([ledger.transaction(txnId).status, ledger.nftSeen(ruby)?.status]).toEqual(['pending', 'active'])
    deliver(ledger, [home, 'ann'])
    expect(ledger.transaction(txnId)).toMatchObject({ status: 'failed', failure: { code: 'group_closed' } })
    expect(ledger.groupSeen(GROUP)?.status).toBe('reverting')
    ledger.drain()
    expect(ledger.groupSeen(GROUP)?.legs[0]).toMatchObject({ status: 'failed', txnId })
    expectReverted()
  })
})

describe('a leg that burns', () => {
  test('holds the NFT until the group settles, then burns it', () => {
    const terms = agreed(ledger, gems.burns(), PAYS)
    const burned = ledger.settled(legOf(terms, 0))
    expect(burned).toMatchObject({ type: 'burn', status: 'completed', toAccountId: null })
    expect(ledger.nftSeen(ruby)).toMatchObject({ owner: 'ann', status: 'held' })
    expect(ledger.counts('ann').owned).toBe(1)
    ledger.settled(legOf(terms, 1))
    expect(ledger.groupSeen(GROUP)?.status).toBe('settled')
    expect(ledger.nftSeen(ruby)).toMatchObject({ owner: 'ann', status: 'burned' })
    const last = { type: 'burn', from: 'ann', to: 'ann', txnId: burned.txnId }
    expect(ledger.nftEvents.get(ruby)?.at(-1)).toMatchObject(last)
    expect(ledger.counts('ann').owned).toBe(0)
  })

  test('is undone with the group by a transfer of the ledger itself, which its chain has', () => {
    const terms = agreed(ledger, gems.burns(), PAYS)
    const { txnId } = ledger.settled(legOf(terms, 0))
    ledger.revert(GROUP)
    const [returned] = ledger.orderedOn('ann')
    expect(returned).toMatchObject({ type: 'transfer', compensates: txnId, toAccountId: null, fromAccountId: null })
    expect(ledger.lastEntry('ann')).toMatchObject({ type: 'transfer', compensates: txnId, instance_id: 'ruby' })
    expectReverted()
  })
})

describe('two legs of one NFT', () => {
  const OTHER = { account_id: 'cid', type: 'transfer', amount: '1', to_account_id: 'bob' }

  test.for([
    ['one after another', () => [gems.gives('ann', 'bob'), gems.gives('bob', 'cid')], 'not_owner'],
    ['of one owner to two', () => [gems.gives('ann', 'bob'), gems.gives('ann', 'cid')], 'held'],
    ['of one owner, a burn among them', () => [gems.gives('ann', 'bob'), gems.burns()], 'held'],
    ['that are the same', () => [gems.gives('ann', 'bob'), gems.gives('ann', 'bob')], 'held'],
  ] as const)('%s can be agreed on, and never settle', ([, legs, code]) => {
    const terms = agreed(ledger, ...legs(), { ...OTHER, boundary: false })
    expect(ledger.settled(legOf(terms, 0)).status).toBe('completed')
    expect(ledger.settled(legOf(terms, 1)).failure?.code).toBe(code)
    expectReverted()
  })

  test('of two groups: the first to hold the NFT settles', () => {
    const terms = agreed(ledger, gems.gives(), gems.gives('bob', 'ann', 'opal'))
    const other = termsOf([gems.gives('ann', 'cid'), PAYS], { groupId: ELSEWHERE })
    ledger.agree(other)
    ledger.settled(legOf(terms, 0))
    expect(ledger.settled(legOf(other, 0)).failure?.code).toBe('held')
    ledger.settled(legOf(terms, 1))
    expect([GROUP, ELSEWHERE].map((id) => ledger.groupSeen(id)?.status)).toEqual(['settled', 'reverted'])
    expectAtRest(gems, 'bob', 'ann')
  })
})

describe('a leg that arrives before every account expects its legs', () => {
  /** Ann has heard of the group, and so have these. */
  function halfAgreed(legs: readonly LegFields[], ...heard: readonly string[]): Terms {
    const terms = termsOf(legs)
    ledger.ask(groupAddress(GROUP), registerGroupCommand(terms))
    for (const who of ['ann', ...heard]) {
      while (ledger.deliverFrom(AT_HOME, who)) expect(ledger.group(GROUP)?.status).toBe('registering')
      while (ledger.deliverFrom(who, AT_HOME)) expect(ledger.group(GROUP)?.status).toBe('registering')
    }
    return terms
  }

  test('counts if only one account lacks the expectation', () => {
    const terms = halfAgreed([gems.gives(), PAYS], home)
    const txnId = ledger.submit(legOf(terms, 0))
    deliver(ledger, ['ann', home], [home, 'ann'], ['ann', AT_HOME])
    expect(ledger.transaction(txnId).status).toBe('completed')
    expect(ledger.group(GROUP)?.status).toBe('registering')
    ledger.drain()
    expect(ledger.groupSeen(GROUP)).toMatchObject({ status: 'open', legs: [{ status: 'completed', txnId }, {}] })
    expect(ledger.orderedOn('bob').at(-1)).toMatchObject({ type: 'credit', counterTxnId: txnId })
    ledger.settled(legOf(terms, 1))
    expect(ledger.groupSeen(GROUP)?.status).toBe('settled')
  })

  test('counts if every account expects its legs before the NFT’s home replies', () => {
    const terms = halfAgreed([gems.gives(), PAYS])
    const txnId = ledger.submit(legOf(terms, 0))
    while (ledger.deliverFrom(AT_HOME, home)) expect(ledger.transaction(txnId).status).toBe('pending')
    ledger.drain()
    expect([ledger.transaction(txnId).status, ledger.groupSeen(GROUP)?.status]).toEqual(['completed', 'open'])
  })

  test.for([
    ['held', true],
    ['asked for', false],
  ] as const)('comes to nothing when the group is refused while the NFT is %s', ([, isHeld]) => {
    ledger.change('cid', { status: 'closed' })
    const terms = halfAgreed([gems.gives(), PAYS, { ...PAYS, to_account_id: 'cid' }], home)
    const txnId = ledger.submit(legOf(terms, 0))
    if (isHeld) {
      deliver(ledger, ['ann', home], [home, 'ann'])
    } else {
      for (const who of ['bob', 'cid']) {
        while (ledger.deliverFrom(AT_HOME, who) || ledger.deliverFrom(who, AT_HOME)) continue
      }
      ledger.deliverFrom(AT_HOME, home)
    }
    expect(ledger.group(GROUP)?.status).toBe(isHeld ? 'registering' : 'refusing')
    expect(ledger.transaction(txnId).status).toBe(isHeld ? 'completed' : 'pending')
    ledger.drain()
    expect(ledger.concluded.get(AT_HOME)).toMatchObject({ kind: 'refused', code: 'account_closed' })
    expect(ledger.states.has(AT_HOME)).toBe(false)
    expect(ledger.transaction(txnId).status).toBe(isHeld ? 'completed' : 'failed')
    expect(ledger.transaction(txnId).compensatedBy !== null).toBe(isHeld)
    expectNothingMoved()
  })
})

describe('a registration', () => {
  const ofJade = () => gems.gives('ann', 'bob', 'jade')

  test.for<[string, string, () => LegFields, () => unknown]>([
    ['of an NFT that is not there', 'instance_not_found', ofJade, () => undefined],
    [
      'of a class that is not there',
      'class_not_found',
      () => ({ ...gems.gives(), class_id: 'cls_00000000000000000000000000' }),
      () => undefined,
    ],
    [
      'of an NFT that is being minted',
      'instance_not_found',
      ofJade,
      () => {
        const jade = { accountId: 'ann', classId: gems.classId, instanceId: 'jade', owner: 'cid' }
        ledger.ask(accountAddress('ann'), mintCommand(jade))
        return ledger.deliver()
      },
    ],
    [
      'that an account refuses',
      'account_refuses',
      () => gems.gives(),
      () => ledger.change('bob', { incoming: 'refuse' }),
    ],
  ])('%s is refused with %s and leaves nothing', ([, code, leg, spoil]) => {
    spoil()
    expect(codeOf(ledger.agree(termsOf([leg(), PAYS])))).toBe(code)
    expect(ledger.states.has(AT_HOME)).toBe(false)
    expect(ledger.instance(ruby)).toMatchObject({ owner: 'ann', status: 'active', hold: null })
    for (const { holds } of ledger.accounts()) expect(holds.size).toBe(0)
  })

  test('of an NFT that is held is accepted: it may be free by then', () => {
    const blocking = ledger.submit(handing(ruby, 'ann', 'cid'))
    ledger.deliver()
    ledger.change('cid', { incoming: 'refuse' })
    const terms = termsOf([gems.gives(), PAYS])
    expect(ledger.agree(terms).kind).toBe('group_registered')
    expect(ledger.transaction(blocking).failure?.code).toBe('incoming_refused')
    expect(ledger.settled(legOf(terms, 0)).status).toBe('completed')
  })
})
