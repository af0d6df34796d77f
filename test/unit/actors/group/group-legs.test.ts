/** A group opens once every account expects its legs, or not at all. A leg's order has its exact terms (L1). */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Caller, Submission } from '../../../../actors/account/commands.ts'
import { MAX_EXPECTATIONS } from '../../../../actors/account/legs.ts'
import { groupAddress } from '../../../../actors/address.ts'
import type { Terms } from '../../../../actors/group/terms.ts'
import { CALLER, registerGroupCommand } from '../../../support/accounts.ts'
import { codeOf, free, GROUP, type LegFields, legOf, STRANGER, termsOf, World } from '../../../model/mini-clients.ts'
import { type KeptTransaction } from '../../../model/mini-ledger.ts'
import { ACROSS, agreed, expectNoHolds, IN, OUT } from './agreed-groups.ts'

let ledger: World

beforeEach(() => {
  ledger = new World()
  ledger.open('ann', 'bob')
  ledger.fund('ann', '10')
  ledger.issue({ issuer: 'ann', totalSupply: '10' })
})

describe('registering', () => {
  test('is answered when every account expects its legs, with the group open and every leg expected', () => {
    const terms = termsOf([OUT, IN])
    expect(ledger.ask(groupAddress(GROUP), registerGroupCommand(terms))).toBe('deferred')
    expect(ledger.groupSeen(GROUP)).toBe(undefined)
    ledger.deliver()
    ledger.deliver()
    ledger.deliver()
    expect(ledger.concluded.get(`group ${GROUP}`)).toBe(undefined)
    ledger.drain()
    expect(ledger.concluded.get(`group ${GROUP}`)).toMatchObject({ kind: 'group_registered', created: true })
    expect(ledger.groupSeen(GROUP)).toMatchObject({
      status: 'open',
      termsHash: terms.termsHash,
      legs: [
        { status: 'expected', txnId: null },
        { status: 'expected', txnId: null },
      ],
      finishedAtMs: null,
    })
  })

  test('the same terms again returns the group as it is; other terms, or another client, are a conflict', () => {
    const terms = agreed(ledger, OUT, IN)
    ledger.settled(legOf(terms, 0))
    expect(ledger.agree(terms)).toMatchObject({
      kind: 'group_registered',
      created: false,
      replayed: false,
      group: { legs: [{ status: 'completed' }, { status: 'expected' }] },
    })
    expect(codeOf(ledger.agree(terms, STRANGER))).toBe('group_exists')
    expect(codeOf(ledger.agree(termsOf([OUT, IN], { timeoutSeconds: 7 })))).toBe('group_exists')
  })

  test('under the same key is answered as the first time, whatever has become of the group', () => {
    const terms = termsOf([OUT, IN])
    const command = registerGroupCommand(terms, { registrationKey: 'key one' })
    const first = ledger.asked(groupAddress(GROUP), command)
    ledger.settled(legOf(terms, 0))
    ledger.revert(GROUP)
    expect(ledger.ask(groupAddress(GROUP), command)).toEqual({ ...first, replayed: true, mismatch: false })
  })

  test('D7: with other terms under the same key is answered as the first time, and told so', () => {
    const command = registerGroupCommand(termsOf([OUT, IN]), { registrationKey: 'key one' })
    const first = ledger.asked(groupAddress(GROUP), command)
    for (const other of [termsOf([OUT, IN], { timeoutSeconds: 7 }), termsOf([ACROSS, ACROSS])]) {
      const again = registerGroupCommand(other, { registrationKey: 'key one' })
      expect(ledger.ask(groupAddress(GROUP), again)).toEqual({ ...first, replayed: true, mismatch: true })
    }
  })

  test.for<[string, string, () => unknown]>([
    ['is closed', 'account_closed', () => ledger.change('bob', { status: 'closed' })],
    ['refuses incoming value', 'account_refuses', () => ledger.change('bob', { incoming: 'refuse' })],
    ['does not exist', 'account_not_found', () => void ledger.states.delete('bob')],
  ])('is refused when an account %s: the others are told, and the ID is free', ([, code, spoil]) => {
    spoil()
    for (const legs of [
      [OUT, IN],
      [ACROSS, { ...OUT, boundary: true }],
    ]) {
      expect(codeOf(ledger.agree(termsOf(legs)))).toBe(code)
      expect(ledger.states.has(`group ${GROUP}`)).toBe(false)
      expectNoHolds(ledger)
    }
  })

  test('that takes longer than the group may live is refused', () => {
    ledger.ask(groupAddress(GROUP), registerGroupCommand(termsOf([OUT, IN], { timeoutSeconds: 1 })))
    ledger.pass(1_000)
    ledger.drain()
    expect(ledger.concluded.get(`group ${GROUP}`)).toMatchObject({ kind: 'refused', code: 'group_expired' })
    expect(ledger.states.has(`group ${GROUP}`)).toBe(false)
    expectNoHolds(ledger)
  })

  test.for<[string, LegFields]>([
    ['token_not_found', { ...OUT, token_id: 'NOPE', boundary: true }],
    ['amount_precision', { ...OUT, token_id: 'GOLD', amount: '0.001', boundary: true }],
    ['not_issuer', { ...OUT, account_id: 'bob', type: 'mint', token_id: 'GOLD' }],
  ])('of a leg that cannot be is refused with %s', ([code, leg]) => {
    expect(codeOf(ledger.agree(termsOf([OUT, IN, leg])))).toBe(code)
    expectNoHolds(ledger)
    expect(ledger.token('GOLD')?.held).toEqual({})
  })

  test('a leg at the boundary needs the grant for its token', () => {
    ledger.open('cid')
    const terms = termsOf([OUT, { ...IN, boundary: true }, { ...IN, account_id: 'cid' }])
    const caller = { ...STRANGER, boundary: ['GOLD'] }
    expect(codeOf(ledger.agree(terms, caller))).toBe('boundary_not_granted')
    expect(ledger.agree(terms, { ...caller, boundary: ['BASE'] })).toMatchObject({ kind: 'group_registered' })
  })

  test(`of more than ${MAX_EXPECTATIONS} legs of an account by one client is refused; other clients can still register`, () => {
    const legs = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? OUT : { ...IN, account_id: 'ann' }))
    const group = (number: number) => ({ groupId: `2f0c2c1e-7d35-4b4e-9d2a-${`${number}`.padStart(12, '0')}` })
    const register = (number: number, caller: Caller) => ledger.agree(termsOf(legs, group(number)), caller)
    const full = MAX_EXPECTATIONS / legs.length
    for (let number = 0; number < full; number += 1) {
      expect(register(number, STRANGER)).toMatchObject({ kind: 'group_registered' })
    }
    expect(codeOf(register(full, STRANGER))).toBe('expectation_limit')
    expect(register(full, CALLER)).toMatchObject({ kind: 'group_registered' })
    ledger.settled(legOf(termsOf(legs, group(0)), 1))
    expect(codeOf(register(full + 1, STRANGER))).toBe('expectation_limit')
    ledger.revert(group(0).groupId, { caller: STRANGER })
    expect(register(full + 1, STRANGER)).toMatchObject({ kind: 'group_registered' })
  })
})

describe('a leg that comes before every other account expects its own', () => {
  const AT_HOME = `group ${GROUP}`

  /** Only Ann has heard of the group, and it of her. */
  function halfAgreed(...legs: readonly LegFields[]): Terms {
    const terms = termsOf(legs)
    ledger.ask(groupAddress(GROUP), registerGroupCommand(terms))
    while (ledger.deliverFrom(AT_HOME, 'ann')) expect(ledger.account('ann').holds.size).toBeGreaterThan(0)
    while (ledger.deliverFrom('ann', AT_HOME)) expect(ledger.group(GROUP)?.status).toBe('registering')
    return terms
  }

  /** The group hears of the leg, and only then do the others hear of the group. */
  function early(fields: Parameters<World['submit']>[0]): KeptTransaction {
    const txnId = ledger.submit(fields)
    expect(ledger.deliverFrom('ann', AT_HOME)).toBe(true)
    expect(ledger.groupSeen(GROUP)).toBe(undefined)
    ledger.drain()
    return ledger.transaction(txnId)
  }

  test('counts when they do', () => {
    const terms = halfAgreed(OUT, IN)
    const { txnId, status } = early(legOf(terms, 0))
    expect(status).toBe('completed')
    expect(ledger.concluded.get(`group ${GROUP}`)).toMatchObject({ kind: 'group_registered', created: true })
    expect(ledger.groupSeen(GROUP)?.legs).toMatchObject([{ status: 'completed', txnId }, { status: 'expected' }])
    ledger.settled(legOf(terms, 1))
    expect(ledger.groupSeen(GROUP)?.status).toBe('settled')
    expect(ledger.balance('bob')).toEqual(free('4'))
  })

  test('is credited to its receiver, with its metadata, once the group is open', () => {
    const terms = halfAgreed(ACROSS, { ...OUT, account_id: 'bob', boundary: true })
    early({ ...legOf(terms, 0), metadata: { note: 'early' } })
    expect(ledger.balance('bob')).toEqual({ balance: '0', available: '0', incoming: '4' })
    const credit = [...ledger.transactions.values()].findLast(({ accountId }) => accountId === 'bob')
    expect(credit?.metadata).toEqual({ note: 'early' })
  })

  test.for([
    ['a transfer, whose receiver is told later, until the group is open', ACROSS, { note: 'early' }],
    ['no other leg', OUT, null],
  ] as const)('keeps the metadata of %s', ([, leg, kept]) => {
    const terms = halfAgreed(leg, leg === OUT ? IN : { ...OUT, account_id: 'bob', boundary: true })
    const metadataOfLegs = () =>
      (ledger.group(GROUP)?.legs ?? []).flatMap(({ parts }) => parts.flatMap(({ metadata }) => metadata ?? []))
    ledger.submit({ ...legOf(terms, 0), metadata: { note: 'early' } })
    ledger.deliverFrom('ann', AT_HOME)
    expect(metadataOfLegs()).toEqual(kept === null ? [] : [kept])
    ledger.drain()
    ledger.submit({ ...legOf(terms, 1), metadata: { note: 'late' } })
    ledger.drain()
    expect(metadataOfLegs()).toEqual([])
  })

  test('and fails, reverts the group as soon as it is open', () => {
    const terms = halfAgreed({ ...OUT, amount: '11' }, { ...IN, amount: '11' })
    expect(ledger.settled(legOf(terms, 0)).status).toBe('failed')
    expect(ledger.groupSeen(GROUP)).toMatchObject({
      status: 'reverted',
      legs: [{ status: 'failed' }, { status: 'expected' }],
    })
    expectNoHolds(ledger)
  })

  test('is undone when they do not, and the ID is free', () => {
    for (const status of ['completed', 'failed']) {
      ledger.change('bob', { incoming: 'refuse' })
      const quantity = status === 'completed' ? '4' : '11'
      const terms = halfAgreed({ ...OUT, amount: quantity }, { ...IN, amount: quantity })
      expect(early(legOf(terms, 0)).status).toBe(status)
      expect(ledger.states.has(`group ${GROUP}`)).toBe(false)
      expect(ledger.balance('ann')).toEqual(free('10'))
      expectNoHolds(ledger)
    }
  })

  test('and mints, has its supply put on hold once the group is open', () => {
    const mint = { account_id: 'ann', type: 'mint', amount: '1', token_id: 'GOLD' }
    const terms = halfAgreed(mint, { ...IN, boundary: true })
    ledger.submit(legOf(terms, 0))
    expect(ledger.deliverFrom('ann', AT_HOME)).toBe(true)
    expect(ledger.token('GOLD')?.held).toEqual({})
    ledger.drain()
    expect(Object.values(ledger.token('GOLD')?.held ?? {})).toMatchObject([{ change: 'mint', amount: '1' }])
    ledger.settled(legOf(terms, 1))
    expect(ledger.groupSeen(GROUP)?.status).toBe('settled')
    expect(ledger.supply('GOLD')).toBe('11')
  })
})

describe('a submission is the leg it names', () => {
  const other: readonly [string, Partial<Submission>][] = [
    ['another amount', { amount: '3.99' }],
    ['another type', { type: 'debit', toAccountId: null }],
    ['another recipient', { toAccountId: 'cid' }],
    ['no recipient', { toAccountId: null }],
    ['another token', { tokenId: 'GOLD' }],
    ['other terms', { termsHash: '0'.repeat(64) }],
    ['another group', { groupId: '2f0c2c1e-7d35-4b4e-9d2a-0f4f6f1d2a33' }],
    ['something in return', { receive: { tokenId: 'GOLD', amount: '1' } }],
  ]

  test.for(other)('and nothing less: %s is refused, and the expectation waits', ([, fields]) => {
    ledger.open('cid')
    const terms = agreed(ledger, ACROSS, { ...OUT, amount: '5', boundary: true })
    expect(codeOf(ledger.submission({ ...legOf(terms, 0), ...fields }))).toBe('group_terms_unknown')
    expect(ledger.balance('ann')).toEqual(free('10'))
    expect(ledger.settled(legOf(terms, 0)).status).toBe('completed')
  })

  test('by the value of its amount, once', () => {
    const terms = agreed(ledger, OUT, IN)
    const taken = ledger.submit({ ...legOf(terms, 0), amount: '4.000' })
    expect(ledger.transaction(taken)).toMatchObject({ status: 'completed', amount: '4.000' })
    expect(codeOf(ledger.submission(legOf(terms, 0)))).toBe('group_terms_unknown')
    ledger.drain()
    expect(codeOf(ledger.submission(legOf(terms, 0)))).toBe('group_terms_unknown')
  })

  test('the first that is not taken, of legs that are alike', () => {
    const terms = agreed(ledger, OUT, OUT, { ...IN, amount: '8' })
    const [first, second] = [ledger.settled(legOf(terms, 0)), ledger.settled(legOf(terms, 0))]
    expect(ledger.groupSeen(GROUP)?.legs).toMatchObject([{ txnId: first.txnId }, { txnId: second.txnId }, {}])
    expect(codeOf(ledger.submission(legOf(terms, 0)))).toBe('group_terms_unknown')
  })

  test('and needs no grant of its own to bring value in', () => {
    const terms = agreed(ledger, { ...OUT, boundary: true }, { ...IN, boundary: true })
    const caller = { ...STRANGER, boundary: false }
    expect(codeOf(ledger.submission(legOf(terms, 1), { caller }))).toBe(undefined)
    expect(codeOf(ledger.submission({ accountId: 'bob' }, { caller }))).toBe('boundary_not_granted')
  })

  test('and without its terms it is no leg of a group that the account knows to be registered', () => {
    const terms = agreed(ledger, OUT, IN)
    expect(codeOf(ledger.submission({ ...legOf(terms, 0), termsHash: null }))).toBe('group_registered')
  })

  test('and is refused once the group is closed', () => {
    const terms = agreed(ledger, OUT, IN)
    ledger.revert(GROUP)
    expect(codeOf(ledger.submission(legOf(terms, 0)))).toBe('group_terms_unknown')
  })
})
