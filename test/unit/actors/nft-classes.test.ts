/** Goal: a class has one name, whoever wants it at once, and comes into being with its issuer's agreement or not at all (D2, D11). */
import { beforeEach, describe, expect, test } from 'vitest'
import { classAddress } from '../../../actors/address.ts'
import { classFactsOf } from '../../../actors/nft-class/state.ts'
import { FORGED, MiniLedger } from '../../model/mini-ledger.ts'
import {
  ADMIN,
  change,
  classify,
  classOf,
  codeOf,
  issue,
  mint,
  minted,
  open,
  STRANGER,
} from '../../model/mini-clients.ts'
import { registerClassCommand } from '../../support/accounts.ts'

const GEMS = classAddress('Gems')
const AT_HOME = 'class gems'

let ledger: MiniLedger

beforeEach(() => {
  ledger = new MiniLedger()
  open(ledger, 'ann', 'bob')
})

describe('a class', () => {
  test('is registered once its issuer has agreed, and is shown as it was asked for', () => {
    const command = registerClassCommand({ issuer: 'ann', metadataSchema: { type: 'object' } })
    expect(ledger.ask(GEMS, command)).toBe('deferred')
    const [preparing] = ledger.classes()
    expect(preparing?.status).toBe('preparing')
    expect(preparing && classFactsOf(preparing)).toBe(undefined)
    expect(codeOf(mint(ledger, { accountId: 'ann', classId: command.newClassId, instanceId: 'ruby' }))).toBe(
      'class_not_found',
    )
    ledger.drain()
    const { newClassId: classId, name, description, issuer, metadataSchema } = command
    const nftClass = { classId, name, description, issuer, metadataSchema, createdAtMs: expect.any(Number) as number }
    expect(ledger.concluded.get(AT_HOME)).toEqual({
      kind: 'class_registered',
      nftClass,
      replayed: false,
      mismatch: false,
    })
    expect(ledger.classes()).toMatchObject([{ status: 'active', version: 2 }])
    expect(minted(ledger, { accountId: 'ann', classId, instanceId: 'ruby' })).toBe(`${classId}/ruby`)
  })

  test('brings nothing to its issuer and takes nothing: no entry, no hold, no room', () => {
    const before = ledger.account('ann')
    classOf(ledger, 'ann')
    const { version: _, lastTimeMs: __, ...after } = ledger.account('ann')
    expect({ ...before, issues: true }).toMatchObject(after)
    expect(ledger.entries.get('ann')).toHaveLength(1)
  })

  test('whose issuer nobody knows brings it into being, keyless, of the client that asked', () => {
    classOf(ledger, 'new', { caller: STRANGER })
    expect(ledger.account('new')).toMatchObject({
      key: null,
      status: 'active',
      version: 1,
      sequence: 0,
      registeredBy: STRANGER.clientId,
    })
    expect(codeOf(mint(ledger, { accountId: 'new', classId: classId(), instanceId: 'ruby' }))).toBe('account_keyless')
  })

  test('whose issuer is frozen, or takes nothing in, is registered all the same: nothing comes to it', () => {
    change(ledger, 'ann', { status: 'frozen', incoming: 'refuse' })
    expect(classify(ledger, { issuer: 'ann' }).kind).toBe('class_registered')
  })

  test('whose issuer is closed is refused, and the name is free', () => {
    change(ledger, 'ann', { status: 'closed' })
    expect(classify(ledger, { issuer: 'ann', registrationKey: 'key one' })).toMatchObject({
      kind: 'refused',
      code: 'account_closed',
      field: 'issuer',
    })
    expect(ledger.classes()).toEqual([])
    expect(classify(ledger, { issuer: 'bob', caller: STRANGER }).kind).toBe('class_registered')
    expect(ledger.classes()).toMatchObject([{ issuer: 'bob', clientId: STRANGER.clientId }])
  })

  test('is not refused twice with the same key: the second try is judged anew', () => {
    change(ledger, 'ann', { status: 'closed' })
    const fields = { registrationKey: 'key one' }
    expect(codeOf(classify(ledger, { ...fields, issuer: 'ann' }))).toBe('account_closed')
    expect(classify(ledger, { ...fields, issuer: 'bob' })).toMatchObject({ kind: 'class_registered', replayed: false })
  })

  test.for([
    ['no signature', '', 'issuer_consent_missing'],
    ['one that does not hold', FORGED, 'issuer_consent_missing'],
    ['its own', 'signature', undefined],
  ] as const)('that needs consent of an issuer with a key, with %s', ([, signature, code]) => {
    const answer = classify(ledger, { issuer: 'ann', consentNeeded: true, signature })
    expect([codeOf(answer), 'keyId' in answer]).toEqual([code, code !== undefined])
    expect(ledger.classes().map(({ status }) => status)).toEqual(code === undefined ? ['active'] : [])
  })

  test('needs no consent of an issuer that has no key', () => {
    classOf(ledger, 'new')
    expect(classify(ledger, { issuer: 'new', name: 'Deeds', consentNeeded: true, signature: '' }).kind).toBe(
      'class_registered',
    )
  })
})

/** Of the one class that there is. */
function classId(): string {
  return ledger.classes()[0]?.classId ?? ''
}

describe('a name', () => {
  test.for([
    ['Gems', 'GEMS'],
    ['Café', 'Cafe\u0301'],
    ['Café', 'CAFE\u0301'],
    ['Straße', 'STRASSE'],
    ['Straße', 'STRA\u1e9eE'],
    ['STRASSE', 'stra\u1e9ee'],
    ['ΟΔΟΣ', 'οδος'],
    ['οδοσ', 'οδος'],
    ['ﬁne', 'FINE'],
    ['\u212b', 'å'],
    ['\u212aelvin', 'kelvin'],
    ['ŉ', '\u02bcN'],
    ['\u0130', 'i\u0307'],
    ['ᾳ', 'ΑΙ'],
    ['ſun', 'sun'],
  ] as const)('D1: %s is taken by %s', ([taken, wanted]) => {
    for (const [first, second] of [
      [taken, wanted],
      [wanted, taken],
    ] as const) {
      ledger = new MiniLedger()
      open(ledger, 'ann')
      classOf(ledger, 'ann', { name: first })
      expect(classify(ledger, { issuer: 'ann', name: second })).toMatchObject({
        kind: 'refused',
        code: 'class_exists',
        field: 'name',
      })
      expect(ledger.classes()).toMatchObject([{ name: first }])
    }
  })

  test.for([
    ['Gems', 'Gem'],
    ['Gems', ' Gems'],
    ['Cafe', 'Café'],
    ['2', '²'],
    ['a b', 'a  b'],
  ] as const)('%s is another than %s', ([one, other]) => {
    classOf(ledger, 'ann', { name: one })
    expect(classify(ledger, { issuer: 'ann', name: other }).kind).toBe('class_registered')
  })

  test('is no token’s: a class and a token may be called the same', () => {
    classOf(ledger, 'ann', { name: 'GOLD' })
    expect(issue(ledger, { issuer: 'ann' }).kind).toBe('token_registered')
    expect(ledger.classes()).toMatchObject([{ name: 'GOLD' }])
  })

  test('that another client asks for meanwhile is taken, though its issuer has not agreed', () => {
    ledger.ask(GEMS, registerClassCommand({ issuer: 'ann' }))
    for (const caller of [STRANGER, ADMIN]) {
      expect(ledger.ask(GEMS, registerClassCommand({ issuer: 'bob', caller }))).toMatchObject({ code: 'class_exists' })
    }
    ledger.drain()
    expect(ledger.classes()).toMatchObject([{ issuer: 'ann', status: 'active' }])
  })
})

describe('a repeat', () => {
  const KEYED = { issuer: 'ann', registrationKey: 'key one' }

  test('while it is under way waits, and asks its issuer no second time', () => {
    ledger.ask(GEMS, registerClassCommand(KEYED))
    expect(ledger.undelivered()).toHaveLength(1)
    expect(ledger.ask(GEMS, registerClassCommand(KEYED))).toBe('deferred')
    expect(ledger.undelivered()).toHaveLength(1)
  })

  test('D7: under its key gets the first answer', () => {
    const metadataSchema = { type: 'object', properties: { a: {}, b: {} } }
    const first = classify(ledger, { ...KEYED, metadataSchema })
    // The same canonical body.
    const again = classify(ledger, { ...KEYED, metadataSchema: { properties: { b: {}, a: {} }, type: 'object' } })
    expect(again).toEqual({ ...first, replayed: true, mismatch: false })
  })

  test.for([{ issuer: 'bob' }, { name: 'gEMS' }, { description: 'Others' }, { metadataSchema: { type: 'string' } }])(
    'D7: under its key gets the first answer also when the body differs, and is told so: %j',
    (change) => {
      const first = classify(ledger, KEYED)
      expect(classify(ledger, { ...KEYED, ...change })).toEqual({ ...first, replayed: true, mismatch: true })
      expect(ledger.classes()).toMatchObject([{ issuer: 'ann', name: 'Gems', metadataSchema: {} }])
    },
  )

  test.for([
    ['another key', { registrationKey: 'key two' }],
    ['no key', { registrationKey: 'request 77' }],
    ['another client’s', { caller: STRANGER }],
  ] as const)('with %s is none', ([, changes]) => {
    classify(ledger, KEYED)
    expect(codeOf(classify(ledger, { ...KEYED, ...changes }))).toBe('class_exists')
  })

  test('of the same request, which its edge has sent twice, is no replay to its client', () => {
    const request = { issuer: 'ann', registrationKey: 'request 7' }
    const first = classify(ledger, request)
    expect(classify(ledger, request)).toEqual(first)
    expect(first).toMatchObject({ replayed: false })
  })

  test('changes nothing', () => {
    classify(ledger, KEYED)
    const before = [...ledger.states]
    classify(ledger, KEYED)
    expect([...ledger.states]).toEqual(before)
    expect(ledger.undelivered()).toEqual([])
  })
})
