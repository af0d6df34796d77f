/** Delivery against payment: the NFT is on hold and keeps its owner until the group ends (L1, L5, G2, I8). */
import { beforeEach, describe, expect, test } from 'vitest'
import { accountAddress, groupAddress } from '../../../../actors/address.ts'
import type { Terms } from '../../../../actors/group/terms.ts'
import { mintCommand, registerGroupCommand } from '../../../support/accounts.ts'
import {
  agree,
  balance,
  change,
  codeOf,
  counts,
  free,
  GROUP,
  groupSeen,
  handing,
  lastEntry,
  type LegFields,
  legOf,
  nftSeen,
  orderedOn,
  ownersOf,
  revert,
  settled,
  submission,
  submit,
  termsOf,
} from '../../../model/mini-clients.ts'
import type { MiniLedger } from '../../../model/mini-ledger.ts'
import { agreed, deliver } from '../group/agreed-groups.ts'
import { ELSEWHERE, expectAtRest, Gems, PAYS } from './gems.ts'

const AT_HOME = `group ${GROUP}`
const TIMEOUT_MS = 900_000

let gems: Gems
let ledger: MiniLedger
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
  expect(ownersOf(ledger, ruby)).toEqual([['mint', 'ann']])
  expect(balance(ledger, 'bob')).toEqual(free('100'))
  expectAtRest(gems, 'ann')
}

function expectReverted(): void {
  expect(groupSeen(ledger, GROUP)?.status).toBe('reverted')
  expectNothingMoved()
}

describe('delivery against payment', () => {
  test.for([
    ['the NFT', [0, 1]],
    ['the payment', [1, 0]],
  ] as const)('settles, %s first: each leg is completed before, and takes effect with the others', ([, order]) => {
    const terms = agreed(ledger, gems.gives('ann', 'cid'), PAYS)
    const [first, second] = order
    settled(ledger, legOf(terms, first))
    expect(groupSeen(ledger, GROUP)?.status).toBe('open')
    expect(nftSeen(ledger, ruby)).toMatchObject({ owner: 'ann', status: first === 0 ? 'held' : 'active' })
    expect(counts(ledger, 'cid')).toEqual({ owned: 0, promised: first === 0 ? 1 : 0 })
    settled(ledger, legOf(terms, second))
    expect(groupSeen(ledger, GROUP)).toMatchObject({
      status: 'settled',
      legs: [{ status: 'completed' }, { status: 'completed' }],
      compensations: [],
    })
    expect([balance(ledger, 'ann'), balance(ledger, 'bob')]).toEqual([free('30'), free('70')])
    expectAtRest(gems, 'cid')
  })

  test('is an entry on each side once the NFT is held, and one of its history once it settles', () => {
    const terms = agreed(ledger, gems.gives(), PAYS)
    const sent = settled(ledger, { ...legOf(terms, 0), metadata: { note: 'deed' } })
    const received = orderedOn(ledger, 'bob').at(-1)
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
    expect(lastEntry(ledger, 'ann')).toMatchObject({ type: 'transfer', ...named })
    expect(lastEntry(ledger, 'bob')).toMatchObject({ type: 'credit', ...named })
    expect(ledger.nftEvents.get(ruby)).toHaveLength(1)
    settled(ledger, legOf(terms, 1))
    expect(ledger.nftEvents.get(ruby)?.at(-1)).toMatchObject({ type: 'transfer', to: 'bob', txnId: sent.txnId })
  })

  test('the leg is admitted once, and pending while its home has not said that it holds the NFT', () => {
    const terms = agreed(ledger, gems.gives(), PAYS)
    const txnId = submit(ledger, legOf(terms, 0))
    expect(codeOf(submission(ledger, legOf(terms, 0)))).toBe('group_terms_unknown')
    deliver(ledger, ['ann', home])
    expect(ledger.transaction(txnId)).toMatchObject({ status: 'pending', auditHash: null })
    expect(groupSeen(ledger, GROUP)?.legs[0]?.status).toBe('expected')
    deliver(ledger, [home, 'ann'])
    expect(ledger.transaction(txnId).status).toBe('completed')
    expect(codeOf(submission(ledger, legOf(terms, 0)))).toBe('group_terms_unknown')
  })

  test('settles although its owner is frozen and its receiver refuses incoming value', () => {
    const terms = agreed(ledger, gems.gives(), PAYS)
    settled(ledger, legOf(terms, 0))
    change(ledger, 'ann', { status: 'frozen' })
    change(ledger, 'bob', { incoming: 'refuse' })
    settled(ledger, legOf(terms, 1))
    expect(nftSeen(ledger, ruby)).toMatchObject({ owner: 'bob', status: 'active' })
  })

  test('the receiver may transfer a settled NFT before its account receives the message', () => {
    const terms = agreed(ledger, gems.gives(), PAYS)
    settled(ledger, legOf(terms, 0))
    submit(ledger, legOf(terms, 1))
    deliver(ledger, ['bob', AT_HOME], [AT_HOME, 'ann'], ['ann', AT_HOME], [AT_HOME, home])
    const on = [ruby, gems.opal].map((id) => submit(ledger, handing(id, 'bob', 'cid')))
    const opal = `instance ${gems.opal}`
    for (const at of [home, opal]) deliver(ledger, ['bob', at], [at, 'cid'], ['cid', at], [at, 'bob'])
    expect(on.map((txnId) => ledger.transaction(txnId).status)).toEqual(['completed', 'completed'])
    expect(counts(ledger, 'bob')).toEqual({ owned: -1, promised: 1 })
    ledger.drain()
    expectAtRest(gems, 'cid', 'cid')
  })
})

describe('a group that reverts', () => {
  test('because its payment fails frees the NFT', () => {
    const terms = agreed(ledger, gems.gives(), { ...PAYS, amount: '101' })
    settled(ledger, legOf(terms, 0))
    expect(nftSeen(ledger, ruby)?.status).toBe('held')
    expect(settled(ledger, legOf(terms, 1)).failure?.code).toBe('insufficient_funds')
    expect(groupSeen(ledger, GROUP)?.legs).toMatchObject([{ status: 'compensated' }, { status: 'failed' }])
    expectReverted()
  })

  test('once it is held: a transfer returns it on both sides, each naming what it undoes', () => {
    const terms = agreed(ledger, gems.gives(), PAYS)
    const { txnId: sent } = settled(ledger, legOf(terms, 0))
    ledger.pass(TIMEOUT_MS)
    ledger.drain()
    const [returned] = orderedOn(ledger, 'ann')
    const [received, taken] = orderedOn(ledger, 'bob').slice(-2)
    const common = { type: 'transfer', amount: '1', tokenId: ruby, groupId: GROUP, status: 'completed' }
    expect(returned).toMatchObject({ ...common, compensates: sent, fromAccountId: 'bob', toAccountId: null })
    expect(taken).toMatchObject({ ...common, compensates: received?.txnId, toAccountId: 'ann', fromAccountId: null })
    expect(ledger.transaction(sent).compensatedBy).toBe(returned?.txnId)
    expect(groupSeen(ledger, GROUP)).toMatchObject({
      legs: [{ status: 'compensated', txnId: sent }, { status: 'expected' }],
      partialFailures: [],
    })
    expect(groupSeen(ledger, GROUP)?.compensations).toHaveLength(2)
    expectReverted()
  })

  test('while the hold at the NFT’s home is pending: the account waits for the home, releases the NFT, then fails', () => {
    const terms = agreed(ledger, gems.gives(), PAYS)
    const txnId = submit(ledger, legOf(terms, 0))
    ledger.pass(TIMEOUT_MS)
    deliver(ledger, [AT_HOME, 'ann'], ['ann', home])
    expect([ledger.transaction(txnId).status, nftSeen(ledger, ruby)?.status]).toEqual(['pending', 'held'])
    deliver(ledger, [home, 'ann'], ['ann', home])
    expect([ledger.transaction(txnId).status, nftSeen(ledger, ruby)?.status]).toEqual(['pending', 'active'])
    deliver(ledger, [home, 'ann'])
    expect(ledger.transaction(txnId)).toMatchObject({ status: 'failed', failure: { code: 'group_closed' } })
    expect(groupSeen(ledger, GROUP)?.status).toBe('reverting')
    ledger.drain()
    expect(groupSeen(ledger, GROUP)?.legs[0]).toMatchObject({ status: 'failed', txnId })
    expectReverted()
  })
})

describe('a leg that burns', () => {
  test('holds the NFT until the group settles, then burns it', () => {
    const terms = agreed(ledger, gems.burns(), PAYS)
    const burned = settled(ledger, legOf(terms, 0))
    expect(burned).toMatchObject({ type: 'burn', status: 'completed', toAccountId: null })
    expect(nftSeen(ledger, ruby)).toMatchObject({ owner: 'ann', status: 'held' })
    expect(counts(ledger, 'ann').owned).toBe(1)
    settled(ledger, legOf(terms, 1))
    expect(groupSeen(ledger, GROUP)?.status).toBe('settled')
    expect(nftSeen(ledger, ruby)).toMatchObject({ owner: 'ann', status: 'burned' })
    const last = { type: 'burn', from: 'ann', to: 'ann', txnId: burned.txnId }
    expect(ledger.nftEvents.get(ruby)?.at(-1)).toMatchObject(last)
    expect(counts(ledger, 'ann').owned).toBe(0)
  })

  test('is undone with the group by a transfer of the ledger itself, which its chain has', () => {
    const terms = agreed(ledger, gems.burns(), PAYS)
    const { txnId } = settled(ledger, legOf(terms, 0))
    revert(ledger, GROUP)
    const [returned] = orderedOn(ledger, 'ann')
    expect(returned).toMatchObject({ type: 'transfer', compensates: txnId, toAccountId: null, fromAccountId: null })
    expect(lastEntry(ledger, 'ann')).toMatchObject({ type: 'transfer', compensates: txnId, instance_id: 'ruby' })
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
    expect(settled(ledger, legOf(terms, 0)).status).toBe('completed')
    expect(settled(ledger, legOf(terms, 1)).failure?.code).toBe(code)
    expectReverted()
  })

  test('of two groups: the first to hold the NFT settles', () => {
    const terms = agreed(ledger, gems.gives(), gems.gives('bob', 'ann', 'opal'))
    const other = termsOf([gems.gives('ann', 'cid'), PAYS], { groupId: ELSEWHERE })
    agree(ledger, other)
    settled(ledger, legOf(terms, 0))
    expect(settled(ledger, legOf(other, 0)).failure?.code).toBe('held')
    settled(ledger, legOf(terms, 1))
    expect([GROUP, ELSEWHERE].map((id) => groupSeen(ledger, id)?.status)).toEqual(['settled', 'reverted'])
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
    const txnId = submit(ledger, legOf(terms, 0))
    deliver(ledger, ['ann', home], [home, 'ann'], ['ann', AT_HOME])
    expect(ledger.transaction(txnId).status).toBe('completed')
    expect(ledger.group(GROUP)?.status).toBe('registering')
    ledger.drain()
    expect(groupSeen(ledger, GROUP)).toMatchObject({ status: 'open', legs: [{ status: 'completed', txnId }, {}] })
    expect(orderedOn(ledger, 'bob').at(-1)).toMatchObject({ type: 'credit', counterTxnId: txnId })
    settled(ledger, legOf(terms, 1))
    expect(groupSeen(ledger, GROUP)?.status).toBe('settled')
  })

  test('counts if every account expects its legs before the NFT’s home replies', () => {
    const terms = halfAgreed([gems.gives(), PAYS])
    const txnId = submit(ledger, legOf(terms, 0))
    while (ledger.deliverFrom(AT_HOME, home)) expect(ledger.transaction(txnId).status).toBe('pending')
    ledger.drain()
    expect([ledger.transaction(txnId).status, groupSeen(ledger, GROUP)?.status]).toEqual(['completed', 'open'])
  })

  test.for([
    ['held', true],
    ['asked for', false],
  ] as const)('comes to nothing when the group is refused while the NFT is %s', ([, isHeld]) => {
    change(ledger, 'cid', { status: 'closed' })
    const terms = halfAgreed([gems.gives(), PAYS, { ...PAYS, to_account_id: 'cid' }], home)
    const txnId = submit(ledger, legOf(terms, 0))
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
      () => change(ledger, 'bob', { incoming: 'refuse' }),
    ],
  ])('%s is refused with %s and leaves nothing', ([, code, leg, spoil]) => {
    spoil()
    expect(codeOf(agree(ledger, termsOf([leg(), PAYS])))).toBe(code)
    expect(ledger.states.has(AT_HOME)).toBe(false)
    expect(ledger.instance(ruby)).toMatchObject({ owner: 'ann', status: 'active', hold: null })
    for (const { holds } of ledger.accounts()) expect(holds.size).toBe(0)
  })

  test('of an NFT that is held is accepted: it may be free by then', () => {
    const blocking = submit(ledger, handing(ruby, 'ann', 'cid'))
    ledger.deliver()
    change(ledger, 'cid', { incoming: 'refuse' })
    const terms = termsOf([gems.gives(), PAYS])
    expect(agree(ledger, terms).kind).toBe('group_registered')
    expect(ledger.transaction(blocking).failure?.code).toBe('incoming_refused')
    expect(settled(ledger, legOf(terms, 0)).status).toBe('completed')
  })
})
