/** Goal: a leg of an NFT that cannot be takes its whole group with it, and none of it stays behind (L1, L5, G2). */
import { beforeEach, describe, expect, test } from 'vitest'
import { groupAddress } from '../../../actors/address.ts'
import type { Terms } from '../../../actors/group/terms.ts'
import { mintCommand, registerGroupCommand } from '../../support/accounts.ts'
import { accountAddress } from '../../../actors/address.ts'
import {
  agree,
  balance,
  change,
  classOf,
  codeOf,
  counts,
  free,
  fund,
  GROUP,
  groupSeen,
  handing,
  lastEntry,
  type LegFields,
  legOf,
  minted,
  nftSeen,
  open,
  orderedOn,
  revert,
  settled,
  submit,
  termsOf,
} from '../../model/mini-clients.ts'
import { countAtRest } from '../../model/mini-ledger-count.ts'
import { MiniLedger } from '../../model/mini-ledger.ts'
import { agreed } from './agreed-groups.ts'

const PAYS = { account_id: 'bob', type: 'transfer', amount: '30', to_account_id: 'ann' }
const AT_HOME = `group ${GROUP}`
const ELSEWHERE = '2f0c2c1e-7d35-4b4e-9d2a-0f4f6f1d2a33'

let ledger: MiniLedger
let classId: string
let ruby: string

/** Ann has a ruby, Bob has 100. */
beforeEach(() => {
  ledger = new MiniLedger()
  open(ledger, 'ann', 'bob', 'cid')
  classId = classOf(ledger, 'ann')
  ruby = minted(ledger, { accountId: 'ann', classId, instanceId: 'ruby' })
  fund(ledger, 'bob', '100')
})

function nft(instanceId = 'ruby'): LegFields {
  return { class_id: classId, instance_id: instanceId, amount: '1' }
}

function gives(from = 'ann', to = 'bob', instanceId = 'ruby'): LegFields {
  return { account_id: from, type: 'transfer', to_account_id: to, ...nft(instanceId) }
}

function burns(from = 'ann'): LegFields {
  return { account_id: from, type: 'burn', ...nft() }
}

/** Nobody keeps anything for anybody, and the money is where it was. */
function expectNothingStays(owner = 'ann'): void {
  expect(ledger.instance(ruby)).toMatchObject({ owner, status: 'active', hold: null })
  expect(balance(ledger, 'bob')).toEqual(free('100'))
  for (const { accountId, holds, nftRoom } of ledger.accounts()) {
    expect([accountId, holds.size, nftRoom]).toEqual([accountId, 0, 0])
  }
  countAtRest(ledger)
}

function expectReverted(): void {
  expect(groupSeen(ledger, GROUP)?.status).toBe('reverted')
  expectNothingStays()
}

describe('a leg fails, and its group with it', () => {
  test.for<[string, string, () => unknown]>([
    ['another order has the NFT', 'held', () => submit(ledger, handing(ruby, 'ann', 'ann2'))],
    ['its account is frozen', 'account_frozen', () => change(ledger, 'ann', { status: 'frozen' })],
  ])('because %s', ([, code, spoil]) => {
    open(ledger, 'ann2')
    const terms = agreed(ledger, gives(), PAYS)
    settled(ledger, legOf(terms, 1))
    change(ledger, 'ann2', { incoming: 'refuse' })
    spoil()
    const failed = settled(ledger, legOf(terms, 0))
    expect(failed).toMatchObject({ status: 'failed', failure: { code } })
    expect(groupSeen(ledger, GROUP)?.legs).toMatchObject([{ status: 'failed' }, { status: 'compensated' }])
    expectReverted()
  })

  test.for<[string, string, string, () => unknown]>([
    ['is another’s, though anybody may agree on it', 'cid', 'ann', () => undefined],
    ['was given away since they agreed', 'ann', 'cid', () => settled(ledger, handing(ruby, 'ann', 'cid'))],
  ])('because the NFT %s', ([, giver, owner, spoil]) => {
    const terms = agreed(ledger, gives(giver, 'bob'), PAYS)
    settled(ledger, legOf(terms, 1))
    spoil()
    expect(settled(ledger, legOf(terms, 0)).failure?.code).toBe('not_owner')
    expect(groupSeen(ledger, GROUP)?.status).toBe('reverted')
    expectNothingStays(owner)
  })

  test('because it was burned since they agreed', () => {
    const terms = agreed(ledger, gives(), PAYS)
    settled(ledger, { accountId: 'ann', type: 'burn', amount: '1', tokenId: ruby })
    expect(settled(ledger, legOf(terms, 0)).failure?.code).toBe('not_owner')
    expect(groupSeen(ledger, GROUP)?.status).toBe('reverted')
  })

  test('because the payment cannot be made: the NFT that was held is free', () => {
    const terms = agreed(ledger, gives(), { ...PAYS, amount: '101' })
    settled(ledger, legOf(terms, 0))
    expect(nftSeen(ledger, ruby)?.status).toBe('held')
    expect(settled(ledger, legOf(terms, 1)).failure?.code).toBe('insufficient_funds')
    expect(groupSeen(ledger, GROUP)?.legs).toMatchObject([{ status: 'compensated' }, { status: 'failed' }])
    expectReverted()
  })

  test('because a group that has it is faster; that one goes on', () => {
    const terms = agreed(ledger, gives(), PAYS)
    const other = termsOf([gives('ann', 'cid'), PAYS], { groupId: ELSEWHERE })
    agree(ledger, other)
    settled(ledger, legOf(other, 0))
    expect(settled(ledger, legOf(terms, 0)).failure?.code).toBe('held')
    expect(groupSeen(ledger, GROUP)?.status).toBe('reverted')
    settled(ledger, legOf(other, 1))
    expect(groupSeen(ledger, ELSEWHERE)?.status).toBe('settled')
    expect(nftSeen(ledger, ruby)).toMatchObject({ owner: 'cid', status: 'active' })
    countAtRest(ledger)
  })
})

describe('a leg that burns', () => {
  test('is held until the group settles, and is then the end of the NFT', () => {
    const terms = agreed(ledger, burns(), PAYS)
    const burned = settled(ledger, legOf(terms, 0))
    expect(burned).toMatchObject({ type: 'burn', status: 'completed', toAccountId: null })
    expect(nftSeen(ledger, ruby)).toMatchObject({ owner: 'ann', status: 'held' })
    expect(counts(ledger, 'ann').owned).toBe(1)
    settled(ledger, legOf(terms, 1))
    expect(groupSeen(ledger, GROUP)?.status).toBe('settled')
    expect(nftSeen(ledger, ruby)).toMatchObject({ owner: 'ann', status: 'burned' })
    expect(ledger.nftEvents.get(ruby)?.at(-1)).toMatchObject({
      type: 'burn',
      from: 'ann',
      to: 'ann',
      txnId: burned.txnId,
    })
    expect(counts(ledger, 'ann').owned).toBe(0)
    countAtRest(ledger)
  })

  test('comes to nothing with the group: a transfer of the ledger’s own says so in the chain', () => {
    const terms = agreed(ledger, burns(), PAYS)
    const { txnId } = settled(ledger, legOf(terms, 0))
    revert(ledger, GROUP)
    const [returned] = orderedOn(ledger, 'ann')
    expect(returned).toMatchObject({ type: 'transfer', compensates: txnId, toAccountId: null, fromAccountId: null })
    expect(lastEntry(ledger, 'ann')).toMatchObject({ type: 'transfer', compensates: txnId, instance_id: 'ruby' })
    expectReverted()
    expect(settled(ledger, handing(ruby, 'ann', 'cid')).status).toBe('completed')
  })
})

describe('two legs of one NFT', () => {
  const OTHER = { account_id: 'cid', type: 'transfer', amount: '1', to_account_id: 'bob' }

  test.for([
    ['one after another', () => [gives('ann', 'bob'), gives('bob', 'cid')], 'not_owner'],
    ['of one owner to two', () => [gives('ann', 'bob'), gives('ann', 'cid')], 'held'],
    ['of one owner, a burn among them', () => [gives('ann', 'bob'), burns()], 'held'],
    ['that are the same', () => [gives('ann', 'bob'), gives('ann', 'bob')], 'held'],
  ] as const)('%s can be agreed on, and never settle', ([, legs, code]) => {
    const terms = agreed(ledger, ...legs(), { ...OTHER, boundary: false })
    expect(settled(ledger, legOf(terms, 0)).status).toBe('completed')
    expect(settled(ledger, legOf(terms, 1)).failure?.code).toBe(code)
    expectReverted()
  })

  test('of two NFTs, one for the other, settle', () => {
    const opal = minted(ledger, { accountId: 'ann', classId, instanceId: 'opal', owner: 'bob' })
    const terms = agreed(ledger, gives('ann', 'bob'), gives('bob', 'ann', 'opal'))
    settled(ledger, legOf(terms, 0))
    settled(ledger, legOf(terms, 1))
    expect(groupSeen(ledger, GROUP)?.status).toBe('settled')
    expect([nftSeen(ledger, ruby)?.owner, nftSeen(ledger, opal)?.owner]).toEqual(['bob', 'ann'])
    countAtRest(ledger)
  })
})

describe('a leg that comes before everybody expects its own', () => {
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

  test('counts when only an account has not heard of the group', () => {
    const terms = halfAgreed([gives(), PAYS], `instance ${ruby}`)
    const txnId = submit(ledger, legOf(terms, 0))
    for (const [from, to] of [
      ['ann', `instance ${ruby}`],
      [`instance ${ruby}`, 'ann'],
      ['ann', AT_HOME],
    ] as const) {
      expect(ledger.deliverFrom(from, to)).toBe(true)
    }
    expect(ledger.transaction(txnId).status).toBe('completed')
    expect(ledger.group(GROUP)?.status).toBe('registering')
    ledger.drain()
    expect(groupSeen(ledger, GROUP)).toMatchObject({ status: 'open', legs: [{ status: 'completed', txnId }, {}] })
    expect(orderedOn(ledger, 'bob')).toMatchObject([{ type: 'credit', counterTxnId: txnId }])
    settled(ledger, legOf(terms, 1))
    expect(groupSeen(ledger, GROUP)?.status).toBe('settled')
  })

  test('counts when everybody hears of the group before the NFT’s home has answered', () => {
    const terms = halfAgreed([gives(), PAYS])
    const txnId = submit(ledger, legOf(terms, 0))
    while (ledger.deliverFrom(AT_HOME, `instance ${ruby}`)) expect(ledger.transaction(txnId).status).toBe('pending')
    ledger.drain()
    expect(ledger.transaction(txnId).status).toBe('completed')
    expect(groupSeen(ledger, GROUP)?.status).toBe('open')
  })

  test.for([
    ['held', true],
    ['asked for', false],
  ] as const)('comes to nothing when the group is refused while the NFT is %s', ([, isHeld]) => {
    change(ledger, 'cid', { status: 'closed' })
    const terms = halfAgreed([gives(), PAYS, { ...PAYS, to_account_id: 'cid' }], `instance ${ruby}`)
    const txnId = submit(ledger, legOf(terms, 0))
    if (isHeld) {
      ledger.deliverFrom('ann', `instance ${ruby}`)
      ledger.deliverFrom(`instance ${ruby}`, 'ann')
    } else {
      for (const who of ['bob', 'cid']) {
        while (ledger.deliverFrom(AT_HOME, who) || ledger.deliverFrom(who, AT_HOME)) continue
      }
      ledger.deliverFrom(AT_HOME, `instance ${ruby}`)
    }
    expect(ledger.group(GROUP)?.status).toBe(isHeld ? 'registering' : 'refusing')
    expect(ledger.transaction(txnId).status).toBe(isHeld ? 'completed' : 'pending')
    ledger.drain()
    expect(ledger.concluded.get(AT_HOME)).toMatchObject({ kind: 'refused', code: 'account_closed' })
    expect(ledger.states.has(AT_HOME)).toBe(false)
    expect(ledger.transaction(txnId)).toMatchObject(isHeld ? { status: 'completed' } : { status: 'failed' })
    expect(ledger.transaction(txnId).compensatedBy !== null).toBe(isHeld)
    expectNothingStays()
  })
})

describe('a registration', () => {
  function expectRefused(code: string, ...legs: readonly LegFields[]): void {
    expect(codeOf(agree(ledger, termsOf(legs)))).toBe(code)
    expect(ledger.states.has(AT_HOME)).toBe(false)
  }

  test('of an NFT that is not there, or of a class that is not, is refused', () => {
    expectRefused('instance_not_found', gives('ann', 'bob', 'jade'), PAYS)
    expectRefused('class_not_found', { ...gives(), class_id: 'cls_00000000000000000000000000' }, PAYS)
    expectNothingStays()
  })

  test('of an NFT that is being minted is refused, and minting it goes on', () => {
    ledger.ask(accountAddress('ann'), mintCommand({ accountId: 'ann', classId, instanceId: 'jade' }))
    ledger.deliver()
    expectRefused('instance_not_found', gives('ann', 'bob', 'jade'), PAYS)
    ledger.drain()
    expect(nftSeen(ledger, `${classId}/jade`)?.status).toBe('active')
  })

  test('that an account refuses leaves the NFT expected by nobody', () => {
    change(ledger, 'bob', { incoming: 'refuse' })
    expectRefused('account_refuses', gives(), PAYS)
    expectNothingStays()
  })

  test('of an NFT that is held is accepted: it may be free by then', () => {
    const blocking = submit(ledger, handing(ruby, 'ann', 'cid'))
    ledger.deliver()
    change(ledger, 'cid', { incoming: 'refuse' })
    const terms = termsOf([gives(), PAYS])
    expect(agree(ledger, terms).kind).toBe('group_registered')
    expect(ledger.transaction(blocking).failure?.code).toBe('incoming_refused')
    expect(settled(ledger, legOf(terms, 0)).status).toBe('completed')
  })
})
