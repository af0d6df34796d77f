/** A class exists only after its issuer consents, and its registration changes no balance (D2, D11). */
import { beforeEach, describe, expect, test } from 'vitest'
import { classAddress } from '../../../../actors/address.ts'
import { classFactsOf } from '../../../../actors/nft-class/state.ts'
import { codeOf, World } from '../../../model/mini-clients.ts'
import { registerClassCommand } from '../../../support/accounts.ts'

const GEMS = classAddress('Gems')
const AT_HOME = 'class gems'

let ledger: World

beforeEach(() => {
  ledger = new World()
  ledger.open('ann', 'bob')
})

describe('a class', () => {
  test('is registered once its issuer consents, with the requested values', () => {
    const command = registerClassCommand({ issuer: 'ann', metadataSchema: { type: 'object' } })
    expect(ledger.ask(GEMS, command)).toBe('deferred')
    const [preparing] = ledger.classes()
    expect(preparing?.status).toBe('preparing')
    expect(preparing && classFactsOf(preparing)).toBe(undefined)
    expect(codeOf(ledger.mint({ accountId: 'ann', classId: command.newClassId, instanceId: 'ruby' }))).toBe(
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
    expect(ledger.minted({ accountId: 'ann', classId, instanceId: 'ruby' })).toBe(`${classId}/ruby`)
  })

  test('adds no entry, hold or reserved room to its issuer', () => {
    const before = ledger.account('ann')
    ledger.classOf('ann')
    const { version: _, lastTimeMs: __, ...after } = ledger.account('ann')
    expect({ ...before, issues: true }).toMatchObject(after)
    expect(ledger.entries.get('ann')).toHaveLength(1)
  })
})

test('a class and a token may have the same name', () => {
  ledger.classOf('ann', { name: 'GOLD' })
  expect(ledger.issue({ issuer: 'ann' }).kind).toBe('token_registered')
  expect(ledger.classes()).toMatchObject([{ name: 'GOLD' }])
})
