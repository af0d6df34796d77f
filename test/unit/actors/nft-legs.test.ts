/** Goal: an NFT goes against payment or not at all: until the group ends it is its owner's, held, and nobody else's (L5, O2, I8). */
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { groupAddress } from '../../../actors/address.ts'
import { revertGroupCommand } from '../../support/accounts.ts'
import {
  ADMIN,
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
  ownersOf,
  settled,
  submission,
  submit,
  termsOf,
} from '../../model/mini-clients.ts'
import { countAtRest } from '../../model/mini-ledger-count.ts'
import { MiniLedger } from '../../model/mini-ledger.ts'
import { agreed, deliver } from './agreed-groups.ts'

const PAYS = { account_id: 'bob', type: 'transfer', amount: '30', to_account_id: 'ann' }
const AT_HOME = `group ${GROUP}`

let ledger: MiniLedger
let classId: string
let ruby: string

function scene(): void {
  ledger = new MiniLedger()
  open(ledger, 'ann', 'bob', 'cid')
  classId = classOf(ledger, 'ann')
  ruby = minted(ledger, { accountId: 'ann', classId, instanceId: 'ruby' })
  fund(ledger, 'bob', '100')
}

/** Ann has a ruby, Bob has 100. */
beforeEach(scene)

/** A leg that hands the ruby over. */
function gives(from = 'ann', to = 'bob'): LegFields {
  const nft = { class_id: classId, instance_id: 'ruby', amount: '1' }
  return { account_id: from, type: 'transfer', to_account_id: to, ...nft }
}

function burns(): LegFields {
  return { account_id: 'ann', type: 'burn', class_id: classId, instance_id: 'ruby', amount: '1' }
}

function atHome(): string {
  return `instance ${ruby}`
}

/** The ruby is Ann's and free, the money is Bob's, nobody keeps anything for anybody. */
function expectNothingMoved(): void {
  expect(groupSeen(ledger, GROUP)?.status).toBe('reverted')
  expect(nftSeen(ledger, ruby)).toMatchObject({ owner: 'ann', status: 'active' })
  expect(ownersOf(ledger, ruby)).toEqual([['mint', 'ann']])
  expect(balance(ledger, 'bob')).toEqual(free('100'))
  for (const { accountId, holds } of ledger.accounts()) {
    expect(holds.size).toBe(0)
    expect(counts(ledger, accountId)).toEqual({ owned: accountId === 'ann' ? 1 : 0, promised: 0 })
  }
  countAtRest(ledger)
}

describe('delivery against payment', () => {
  test.for([
    ['the NFT', [0, 1]],
    ['the payment', [1, 0]],
  ] as const)('settles, %s first: each leg is completed before, and takes effect with the others', ([, order]) => {
    const terms = agreed(ledger, gives(), PAYS)
    const [first, second] = order
    settled(ledger, legOf(terms, first))
    expect(groupSeen(ledger, GROUP)?.status).toBe('open')
    expect(nftSeen(ledger, ruby)).toMatchObject({ owner: 'ann', status: first === 0 ? 'held' : 'active' })
    expect(counts(ledger, 'bob')).toEqual({ owned: 0, promised: first === 0 ? 1 : 0 })
    settled(ledger, legOf(terms, second))
    expect(groupSeen(ledger, GROUP)).toMatchObject({
      status: 'settled',
      legs: [{ status: 'completed' }, { status: 'completed' }],
      compensations: [],
    })
    expect(nftSeen(ledger, ruby)).toMatchObject({ owner: 'bob', status: 'active' })
    expect([balance(ledger, 'ann'), balance(ledger, 'bob')]).toEqual([free('30'), free('70')])
    expect([counts(ledger, 'ann'), counts(ledger, 'bob')]).toEqual([
      { owned: 0, promised: 0 },
      { owned: 1, promised: 0 },
    ])
    for (const { holds } of ledger.accounts()) expect(holds.size).toBe(0)
    countAtRest(ledger)
  })

  test('is an entry on each side once the NFT is held, and one of its history once it settles', () => {
    const terms = agreed(ledger, gives(), PAYS)
    const sent = settled(ledger, { ...legOf(terms, 0), metadata: { note: 'deed' } })
    const received = ledger.transaction(orderedOn(ledger, 'bob')[0]?.txnId ?? '')
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
    for (const [name, type] of [
      ['ann', 'transfer'],
      ['bob', 'credit'],
    ] as const) {
      expect(lastEntry(ledger, name)).toMatchObject({ type, class_id: classId, instance_id: 'ruby', group_id: GROUP })
    }
    expect(ledger.nftEvents.get(ruby)).toHaveLength(1)
    settled(ledger, legOf(terms, 1))
    expect(ledger.nftEvents.get(ruby)?.at(-1)).toMatchObject({ type: 'transfer', to: 'bob', txnId: sent.txnId })
  })

  test('the leg is pending while its home has not said that it holds it', () => {
    const terms = agreed(ledger, gives(), PAYS)
    const txnId = submit(ledger, legOf(terms, 0))
    expect(ledger.transaction(txnId)).toMatchObject({ status: 'pending', auditHash: null })
    deliver(ledger, ['ann', atHome()])
    expect(ledger.transaction(txnId).status).toBe('pending')
    expect(groupSeen(ledger, GROUP)?.legs[0]?.status).toBe('expected')
    deliver(ledger, [atHome(), 'ann'])
    expect(ledger.transaction(txnId).status).toBe('completed')
  })

  test('is admitted once: the same leg again is not expected, held or not', () => {
    const terms = agreed(ledger, gives(), PAYS)
    submit(ledger, legOf(terms, 0))
    expect(codeOf(submission(ledger, legOf(terms, 0)))).toBe('group_terms_unknown')
    ledger.drain()
    expect(codeOf(submission(ledger, legOf(terms, 0)))).toBe('group_terms_unknown')
  })

  test.for([
    ['another receiver', { toAccountId: 'cid' }],
    ['another NFT', { tokenId: 'opal' }],
    ['another type', { type: 'exchange' }],
    ['another account', { accountId: 'bob', toAccountId: 'ann' }],
    ['other terms', { termsHash: '0'.repeat(64) }],
  ] as const)('%s is no leg of it', ([, fields]) => {
    const opal = minted(ledger, { accountId: 'ann', classId, instanceId: 'opal' })
    const terms = agreed(ledger, gives(), PAYS)
    const other = { ...legOf(terms, 0), ...fields }
    const tokenId = other.tokenId === 'opal' ? opal : ruby
    expect(codeOf(submission(ledger, { ...other, tokenId }))).toBe('group_terms_unknown')
    expect(submission(ledger, legOf(terms, 0)).kind).toBe('accepted')
  })

  test('O2: nobody gets what is held for a leg: its owner’s other orders fail, and others’ are none of its owner’s', () => {
    const terms = agreed(ledger, gives(), PAYS)
    settled(ledger, legOf(terms, 0))
    const swap = { type: 'exchange', groupId: '2f0c2c1e-7d35-4b4e-9d2a-0f4f6f1d2a33' } as const
    const receive = { tokenId: 'BASE', amount: '1' }
    expect(settled(ledger, handing(ruby, 'ann', 'cid')).failure?.code).toBe('held')
    expect(settled(ledger, { ...handing(ruby, 'ann', 'cid'), ...swap, receive }).failure?.code).toBe('held')
    expect(settled(ledger, { accountId: 'ann', type: 'burn', amount: '1', tokenId: ruby }).failure?.code).toBe('held')
    expect(settled(ledger, handing(ruby, 'bob', 'cid')).failure?.code).toBe('not_owner')
    settled(ledger, legOf(terms, 1))
    expect(nftSeen(ledger, ruby)).toMatchObject({ owner: 'bob', status: 'active' })
  })

  test('a frozen account fulfills its signed legs; one that starts to refuse incoming value receives nothing', () => {
    const terms = agreed(ledger, gives(), PAYS)
    settled(ledger, legOf(terms, 0))
    change(ledger, 'ann', { status: 'frozen' })
    change(ledger, 'bob', { incoming: 'refuse' })
    settled(ledger, legOf(terms, 1))
    expect(nftSeen(ledger, ruby)?.owner).toBe('bob')
    change(ledger, 'ann', { status: 'active', incoming: 'refuse' })
    change(ledger, 'bob', { incoming: 'accept' })
    const back = termsOf([{ ...gives(), account_id: 'bob', to_account_id: 'cid' }, PAYS], {
      groupId: '2f0c2c1e-7d35-4b4e-9d2a-0f4f6f1d2a33',
    })
    expect(codeOf(agree(ledger, back))).toBe('account_refuses')
    change(ledger, 'ann', { incoming: 'accept' })
    agree(ledger, back)
    settled(ledger, legOf(back, 0))
    change(ledger, 'ann', { incoming: 'refuse' })
    settled(ledger, legOf(back, 1))
    expect(groupSeen(ledger, back.groupId)).toMatchObject({
      status: 'reverted',
      failure: { code: 'incoming_refused' },
    })
    expect(nftSeen(ledger, ruby)).toMatchObject({ owner: 'bob', status: 'active' })
  })

  test('what has settled is its receiver’s to give on before its account has heard so, and is counted right', () => {
    const terms = agreed(ledger, gives(), PAYS)
    settled(ledger, legOf(terms, 0))
    submit(ledger, legOf(terms, 1))
    deliver(ledger, ['bob', AT_HOME], [AT_HOME, 'ann'], ['ann', AT_HOME], [AT_HOME, atHome()])
    expect(nftSeen(ledger, ruby)).toMatchObject({ owner: 'bob', status: 'active' })
    const on = submit(ledger, handing(ruby, 'bob', 'cid'))
    deliver(ledger, ['bob', atHome()], [atHome(), 'cid'], ['cid', atHome()], [atHome(), 'bob'])
    expect(ledger.transaction(on).status).toBe('completed')
    expect(counts(ledger, 'bob')).toEqual({ owned: -1, promised: 1 })
    expect(codeOf(change(ledger, 'bob', { status: 'closed' }))).toBe('account_not_empty')
    ledger.drain()
    expect(counts(ledger, 'bob')).toEqual({ owned: 0, promised: 0 })
    countAtRest(ledger)
  })
})

describe('a group that reverts', () => {
  const TIMEOUT_MS = 900_000

  test('before the NFT’s leg is in: it is no longer expected, and what was paid comes back', () => {
    const terms = agreed(ledger, gives(), PAYS)
    settled(ledger, legOf(terms, 1))
    ledger.pass(TIMEOUT_MS)
    ledger.drain()
    expectNothingMoved()
    expect(codeOf(submission(ledger, legOf(terms, 0)))).toBe('group_terms_unknown')
    expect(settled(ledger, handing(ruby, 'ann', 'cid')).status).toBe('completed')
  })

  test('once it is held: it is free, and a transfer returns it on both sides, each naming what it undoes', () => {
    const terms = agreed(ledger, gives(), PAYS)
    const { txnId: sent } = settled(ledger, legOf(terms, 0))
    ledger.pass(TIMEOUT_MS)
    ledger.drain()
    const [returned] = orderedOn(ledger, 'ann')
    const [received, taken] = orderedOn(ledger, 'bob')
    const common = { type: 'transfer', amount: '1', tokenId: ruby, groupId: GROUP, status: 'completed' }
    expect(returned).toMatchObject({ ...common, compensates: sent, fromAccountId: 'bob', toAccountId: null })
    expect(taken).toMatchObject({ ...common, compensates: received?.txnId, toAccountId: 'ann', fromAccountId: null })
    expect(ledger.transaction(sent).compensatedBy).toBe(returned?.txnId)
    expect(groupSeen(ledger, GROUP)).toMatchObject({
      legs: [{ status: 'compensated', txnId: sent }, { status: 'expected' }],
      partialFailures: [],
    })
    expect(groupSeen(ledger, GROUP)?.compensations).toHaveLength(2)
    expectNothingMoved()
  })

  test('while the hold at the NFT’s home is pending: the account waits for the home, releases the NFT, then fails', () => {
    const terms = agreed(ledger, gives(), PAYS)
    const txnId = submit(ledger, legOf(terms, 0))
    ledger.pass(TIMEOUT_MS)
    deliver(ledger, [AT_HOME, 'ann'], ['ann', atHome()])
    expect(ledger.transaction(txnId).status).toBe('pending')
    expect(nftSeen(ledger, ruby)?.status).toBe('held')
    deliver(ledger, [atHome(), 'ann'], ['ann', atHome()])
    expect([ledger.transaction(txnId).status, nftSeen(ledger, ruby)?.status]).toEqual(['pending', 'active'])
    deliver(ledger, [atHome(), 'ann'])
    expect(ledger.transaction(txnId)).toMatchObject({ status: 'failed', failure: { code: 'group_closed' } })
    expect(groupSeen(ledger, GROUP)?.status).toBe('reverting')
    ledger.drain()
    expect(groupSeen(ledger, GROUP)?.legs[0]).toMatchObject({ status: 'failed', txnId })
    expectNothingMoved()
  })

  test('while its home has said that it holds it, and that is heard first: it is completed, then undone', () => {
    const terms = agreed(ledger, gives(), PAYS)
    const txnId = submit(ledger, legOf(terms, 0))
    deliver(ledger, ['ann', atHome()])
    ledger.pass(TIMEOUT_MS)
    deliver(ledger, [atHome(), 'ann'], [AT_HOME, 'ann'])
    expect(ledger.transaction(txnId)).toMatchObject({ status: 'completed', compensatedBy: null })
    deliver(ledger, ['ann', atHome()], [atHome(), 'ann'])
    expect(ledger.transaction(txnId).compensatedBy).not.toBe(null)
    ledger.drain()
    expect(groupSeen(ledger, GROUP)?.legs[0]).toMatchObject({ status: 'compensated', txnId })
    expectNothingMoved()
  })

  test('frees the NFT at its home: it may be given on before its owner’s account has heard so', () => {
    const terms = agreed(ledger, gives(), PAYS)
    const leg = settled(ledger, legOf(terms, 0))
    ledger.ask(groupAddress(GROUP), revertGroupCommand(GROUP, { caller: ADMIN }))
    deliver(ledger, [AT_HOME, 'ann'], ['ann', atHome()])
    const on = submit(ledger, handing(ruby, 'ann', 'cid'))
    deliver(ledger, ['ann', atHome()], [atHome(), 'cid'], ['cid', atHome()])
    expect(ownersOf(ledger, ruby).map(([, owner]) => owner)).toEqual(['ann', 'cid'])
    expect(ledger.transaction(leg.txnId).compensatedBy).toBe(null)
    ledger.drain()
    expect(ledger.transaction(on).status).toBe('completed')
    expect(groupSeen(ledger, GROUP)).toMatchObject({ status: 'reverted', legs: [{ status: 'compensated' }, {}] })
    expect(ownersOf(ledger, ruby).map(([, owner]) => owner)).toEqual(['ann', 'cid'])
    countAtRest(ledger)
  })

  test('I8: at any moment, in any order of messages, leaves the NFT free and each leg undone once or failed', () => {
    const outcomes = new Set<string>()
    const deliveries = fc.array(fc.nat({ max: 20 }), { maxLength: 12 })
    const picks = fc.array(fc.nat({ max: 20 }), { minLength: 40, maxLength: 40 })
    fc.assert(
      fc.property(deliveries, fc.boolean(), fc.boolean(), picks, (before, burned, paid, after) => {
        scene()
        const terms = agreed(ledger, burned ? burns() : gives(), PAYS)
        // One of two legs: it cannot settle.
        const txnId = submit(ledger, paid ? legOf(terms, 1) : legOf(terms, 0))
        for (const pick of before) ledger.deliver((count) => pick % Math.max(count, 1))
        ledger.pass(TIMEOUT_MS)
        let turn = 0
        ledger.drain((count) => (after[(turn += 1) % after.length] ?? 0) % Math.max(count, 1))
        expectNothingMoved()
        const { status, compensatedBy, failure } = ledger.transaction(txnId)
        expect(compensatedBy !== null).toBe(status === 'completed')
        outcomes.add(`${paid ? 'payment' : 'NFT'} ${failure?.code ?? status}`)
      }),
      { numRuns: 150 },
    )
    expect([...outcomes].sort()).toEqual(['NFT completed', 'NFT group_closed', 'payment completed'])
  })
})
