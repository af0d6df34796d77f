/** Rows are sealed and padded, and unsealed texts are refused (V1 to V3). */
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { accountKeyName, classKeyName, shardKeyName } from '../../../infra/vault/key-name.ts'
import { placeOf } from '../../../infra/vault/place.ts'
import { createDataKeys } from '../../../infra/vault/data-keys.ts'
import { createRowVault, DataKeyMissing } from '../../../infra/vault/row-vault.ts'
import { UnreadableRow } from '../../../infra/vault/unreadable-row.ts'
import { sealingVault, testWrapping } from '../../support/postgres/row-vaults.ts'

const NAME = accountKeyName('ref')
const PLACE = placeOf('balances', 3, 'ref', 'EUR')
const GROUP_ID = '6f1c2a34-5b6d-4e7f-8091-a2b3c4d5e6f7'
const TEXT = '["100","0","0","0",5]'

test('a sealed text reveals nothing, and opens', () => {
  const vault = sealingVault([NAME])
  const bytes = Buffer.from(vault.seal(NAME, PLACE, TEXT), 'hex')
  expect(bytes.includes('100')).toBe(false)
  expect(vault.open(NAME, PLACE, bytes)).toBe(TEXT)
})

test('V1: every plain text is refused', () => {
  const vault = sealingVault([NAME])
  for (const text of [TEXT, '', '{}', '\u0001', `\u0001${'x'.repeat(100)}`]) {
    expect(() => vault.open(NAME, PLACE, Buffer.from(text))).toThrow(UnreadableRow)
  }
})

test('V3: without its key nothing is sealed or opened', () => {
  const vault = sealingVault([NAME])
  const bytes = Buffer.from(vault.seal(NAME, PLACE, TEXT), 'hex')
  for (const other of [accountKeyName('other'), classKeyName('ref'), shardKeyName(3)]) {
    expect(() => vault.seal(other, PLACE, TEXT)).toThrow(DataKeyMissing)
    expect(() => vault.open(other, PLACE, bytes)).toThrow(UnreadableRow)
  }
})

test('the error names the unreadable row without its content', () => {
  const vault = sealingVault([NAME])
  expect(() => vault.open(NAME, PLACE, Buffer.from(TEXT))).toThrow('balances 3 ref EUR: it does not open')
})

test('a new key seals only for the commit that creates it', () => {
  const keys = createDataKeys(testWrapping())
  const vault = createRowVault(keys, randomBytes(32), { amountIndex: 'account' })
  const made = keys.make(NAME)
  const bytes = Buffer.from(vault.seal(NAME, PLACE, TEXT, new Map([[NAME, made]])), 'hex')
  expect(() => vault.open(NAME, PLACE, bytes)).toThrow(UnreadableRow)
  keys.adopt(made)
  expect(vault.open(NAME, PLACE, bytes)).toBe(TEXT)
})

test('references and buckets differ between ledgers and reveal no plain value', () => {
  const [one, other] = [sealingVault([]), sealingVault([])]
  expect(one.accountRef('alice@bank')).toMatch(/^[A-Za-z0-9_-]{22}$/)
  expect(one.accountRef('alice@bank')).toBe(one.accountRef('alice@bank'))
  expect(one.accountRef('alice@bank')).not.toBe(other.accountRef('alice@bank'))
  expect(one.accountRef('alice@bank')).not.toBe(one.keyRef('', 'alice@bank'))
  expect(one.keyRef('a', 'b')).not.toBe(one.keyRef('b', 'a'))
  expect(one.amountBucket('a', '123.4')).toBe(one.amountBucket('a', '999'))
  expect(one.amountBucket('a', '123.4')).not.toBe(other.amountBucket('a', '123.4'))
})

test.each([
  ['account', { sameMagnitude: false, searchable: [true, false] }],
  ['ledger', { sameMagnitude: true, searchable: [true, true] }],
  ['off', { sameMagnitude: true, searchable: [false, false] }],
] as const)('amounts under the index %s', (amountIndex, { sameMagnitude, searchable }) => {
  const vault = createRowVault(createDataKeys(testWrapping()), randomBytes(32), { amountIndex })
  const bucket = vault.amountBucket('a', '123.4')
  expect(vault.amountBucket('b', '999') === bucket).toBe(sameMagnitude)
  expect(vault.amountBucket('a', '999')).toBe(bucket)
  expect(vault.amountBucket('a', '1000') === bucket).toBe(amountIndex === 'off')
  const [ofAccount, ofAll] = [vault.amountBuckets('a', '100', '999'), vault.amountBuckets(null, '100', '999')]
  expect([ofAccount, ofAll]).toEqual(searchable.map((is) => (is ? [bucket] : undefined)))
})

test('the references of a group differ between accounts, and groupRefs() has all of them', () => {
  const vault = sealingVault([])
  const accounts = Array.from({ length: 1_000 }, (_, number) => `account-${number}`)
  const refs = new Set(accounts.map((accountId) => vault.groupRef(accountId, GROUP_ID)))
  expect(refs.size).toBeGreaterThan(500)
  expect(new Set(vault.groupRefs(GROUP_ID))).toHaveLength(1_024)
  for (const ref of refs) expect(vault.groupRefs(GROUP_ID)).toContain(ref)
  expect(vault.groupRef('account-1', GROUP_ID)).not.toBe(vault.groupRef('account-1', GROUP_ID.replace('1', '2')))
  expect([...refs].join(' ')).not.toContain(GROUP_ID.slice(0, 8))
})
