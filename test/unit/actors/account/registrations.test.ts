/** Names of tokens and of classes are unique, and each asset needs its issuer's consent (D2, D7, T1). */
import { beforeEach, describe, expect, test } from 'vitest'
import { MAX_ASSETS } from '../../../../actors/account/turn.ts'
import type { Answer } from '../../../../actors/account/outcome.ts'
import { classAddress, tokenAddress } from '../../../../actors/address.ts'
import type { RegisterClassCommand } from '../../../../actors/nft-class/state.ts'
import type { RegisterTokenCommand } from '../../../../actors/token/state.ts'
import { ADMIN, codeOf, STRANGER, World } from '../../../model/mini-clients.ts'
import { FORGED } from '../../../model/mini-ledger.ts'
import { registerClassCommand, registerTokenCommand } from '../../../support/accounts.ts'

type Changes = Partial<Omit<RegisterTokenCommand, 'type'> & Omit<RegisterClassCommand, 'type'>>

let ledger: World

beforeEach(() => {
  ledger = new World()
  ledger.open('ann', 'bob')
})

const KINDS = [
  {
    kind: 'a token',
    /** Sends it and delivers nothing. */
    ask: (changes: Changes) => ledger.ask(tokenAddress('GOLD'), registerTokenCommand(changes)),
    register: (changes: Changes): Answer => ledger.issue(changes),
    /** Another spelling of its name. */
    alike: { tokenId: 'gold' },
    others: [{ tokenId: 'gold' }, { decimals: 3 }, { issuer: 'bob' }, { totalSupply: '1000.0' }],
    registered: 'token_registered',
    taken: 'token_exists',
  },
  {
    kind: 'a class',
    ask: (changes: Changes) => ledger.ask(classAddress('Gems'), registerClassCommand(changes)),
    register: (changes: Changes): Answer => ledger.classify(changes),
    alike: { name: 'gEMS' },
    others: [{ name: 'gEMS' }, { description: 'Others' }, { issuer: 'bob' }, { metadataSchema: { type: 'string' } }],
    registered: 'class_registered',
    taken: 'class_exists',
  },
] as const

describe.for(KINDS)('$kind', ({ ask, register, alike, others, registered, taken }) => {
  const KEYED = { issuer: 'ann', registrationKey: 'key one' }

  test('D7: under its key is answered as the first time, and changes nothing', () => {
    const first = register(KEYED)
    const before = [...ledger.states]
    expect(register(KEYED)).toEqual({ ...first, replayed: true, mismatch: false })
    expect([[...ledger.states], ledger.undelivered()]).toEqual([before, []])
  })

  test.for<Changes>(others)('D7: with %j under its key is answered as the first time, and told so', (changes) => {
    const first = register(KEYED)
    expect(register({ ...KEYED, ...changes })).toEqual({ ...first, replayed: true, mismatch: true })
  })

  test('is not a replay if its edge sent the same request twice', () => {
    const request = { issuer: 'ann', registrationKey: 'request 7' }
    const first = register(request)
    expect(register(request)).toEqual(first)
    expect(first).toMatchObject({ kind: registered, replayed: false })
  })

  test.for([
    ['another key', { registrationKey: 'key two' }],
    ['no key', { registrationKey: 'request 77' }],
    ['another client’s', { caller: STRANGER }],
    ['another spelling', { registrationKey: 'key two', ...alike }],
  ] as const)('with %s is taken', ([, changes]) => {
    register(KEYED)
    expect(codeOf(register({ ...KEYED, ...changes }))).toBe(taken)
  })

  test('while it is under way a repeat waits, asks its issuer no second time, and others find it taken', () => {
    for (let times = 0; times < 2; times += 1) {
      expect(ask(KEYED)).toBe('deferred')
      expect(ledger.undelivered()).toHaveLength(1)
    }
    for (const caller of [STRANGER, ADMIN]) expect(ask({ issuer: 'bob', caller })).toMatchObject({ code: taken })
    ledger.drain()
    expect(register(KEYED)).toMatchObject({ kind: registered })
  })

  test('whose issuer is closed is refused, and its name is free, under the same key, too', () => {
    ledger.change('ann', { status: 'closed' })
    expect(register(KEYED)).toMatchObject({ kind: 'refused', code: 'account_closed', field: 'issuer' })
    expect(register({ ...KEYED, issuer: 'bob' })).toMatchObject({ kind: registered, replayed: false })
  })

  test('whose issuer is frozen is registered all the same, with the consent that it needs', () => {
    ledger.change('ann', { status: 'frozen' })
    expect(codeOf(register({ issuer: 'ann', consentNeeded: true, signature: '' }))).toBe('issuer_consent_missing')
    expect(register({ issuer: 'ann' }).kind).toBe(registered)
  })

  test('with an unknown issuer creates the issuer without a key, for the registering client', () => {
    register({ issuer: 'new', caller: STRANGER })
    expect(ledger.account('new')).toMatchObject({ key: null, status: 'active', registeredBy: STRANGER.clientId })
  })

  test.for([
    ['a keyed issuer that has not signed', 'ann', '', 'issuer_consent_missing'],
    ['a keyed issuer whose signature does not hold', 'ann', FORGED, 'issuer_consent_missing'],
    ['a keyed issuer that has signed', 'ann', 'signature', undefined],
    ['a keyless issuer, which cannot', 'new', '', undefined],
  ] as const)('where consent is needed: of %s', ([, issuer, signature, code]) => {
    const answer = register({ issuer, consentNeeded: true, signature })
    expect([codeOf(answer), 'keyId' in answer]).toEqual([code, code !== undefined])
    expect(codeOf(register({ issuer: 'bob' }))).toBe(code === undefined ? taken : undefined)
  })
})

test.for([
  ['1', 'asset_limit'],
  ['0', undefined],
] as const)('D5: a supply of %s at an issuer with as many assets as it may have: %s', ([totalSupply, code]) => {
  ledger.put({ ...ledger.account('ann'), nftCount: MAX_ASSETS })
  expect(codeOf(ledger.issue({ issuer: 'ann', totalSupply }))).toBe(code)
})
