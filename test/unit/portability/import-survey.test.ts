/** Tests Q1 to Q3 of import-survey.ts. */
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import type { RecordBody } from '../../../infra/portability/export-lines.ts'
import { checkPart } from '../../../infra/portability/import-part.ts'
import { ImportSurvey } from '../../../infra/portability/import-survey.ts'
import type { FakeServiceKeys } from '../api/fakes/fake-service-keys.ts'
import { anAccount, createKeys, ledgerBody, TOKEN_BODY } from './export-scene.ts'
import { aClass, anAttestation, anInstance, CLASS_ID, contextOf, fileOf, given, wholeFile } from './import-scene.ts'

async function survey(
  bodies: (keys: FakeServiceKeys) => readonly RecordBody[],
  change: (record: JsonObject) => JsonObject = (record) => record,
): Promise<ReturnType<ImportSurvey['end']>> {
  const { keys, records } = await fileOf(bodies)
  const checked = await checkPart(given(records), true, undefined, contextOf(keys))
  if (!checked.ok) throw new Error(`refused as a part: ${JSON.stringify(checked.refusal)}`)
  const { staged } = checked.part
  const lines = staged.text
    .split('\n')
    .slice(0, -1)
    .map((line) => `${canonicalJson(change(JSON.parse(line) as JsonObject))}\n`)
  const walk = new ImportSurvey()
  walk.take({ ...staged, text: lines.join('') })
  return walk.end()
}

async function faultsOf(bodies: readonly RecordBody[]): Promise<readonly string[]> {
  const end = await survey(() => bodies)
  if (end.ok || end.refusal.kind !== 'invalid') return []
  return end.refusal.faults.map(({ code, field }) => `${code} ${field}`)
}

describe('the survey of an import', () => {
  test('counts a whole file, its accounts and their NFTs', async () => {
    const end = await survey(wholeFile)
    expect(end).toMatchObject({
      ok: true,
      index: { counts: { accounts: 2, tokens: 1, nftClasses: 1, nftInstances: 2, attestations: 1 } },
    })
    if (!end.ok) return
    expect([...end.index.accounts]).toEqual(['alice', 'bob'])
    expect([...end.index.owned]).toEqual([['bob', 1]])
    expect([...end.index.issuers]).toEqual([[CLASS_ID, 'alice']])
  })

  test('Q1: lines that differ from the signed ones are refused, although each part was accepted', async () => {
    const end = await survey(wholeFile, (record) =>
      record['record'] === 'token' ? { ...record, decimals: 4 } : record,
    )
    expect(end).toMatchObject({
      ok: false,
      refusal: { faults: [{ code: 'proof_hash', field: 'lines[10].proof_hash' }] },
    })
  })

  const TWICE: readonly (readonly [string, readonly RecordBody[], readonly string[]])[] = [
    ['an account', [ledgerBody(), anAccount('bob'), anAccount('bob')], ['account_id lines[2].account_id']],
    [
      'a token, in another case',
      [ledgerBody(), TOKEN_BODY, { ...TOKEN_BODY, symbol: 'gold' } as RecordBody],
      ['symbol lines[2].symbol'],
    ],
    ['a class by its ID', [ledgerBody(), aClass('One'), aClass('Two')], ['class_id lines[2].class_id']],
    [
      'a class by its name, in another case',
      [ledgerBody(), aClass('Straße'), aClass('STRASSE', 'alice', CLASS_ID.replace(/0$/, '1'))],
      ['class_id lines[2].name'],
    ],
    [
      'an NFT',
      [ledgerBody(), aClass(), anInstance('a', ['bob'], true), anInstance('a', ['bob'], true)],
      ['field lines[3].instance_id'],
    ],
  ]
  test.for(TWICE)('Q2: nothing stands in it twice: %s', async ([, bodies, expected]) => {
    expect(await faultsOf(bodies)).toEqual(expected)
  })

  const NAMED: readonly (readonly [string, readonly RecordBody[], readonly string[]])[] = [
    [
      'the token of a balance',
      [ledgerBody(), anAccount('bob', { GOLD: '1' })],
      ['token_id lines[1].balances[0].token_id'],
    ],
    [
      'the token of a balance, as it is written',
      [ledgerBody(), TOKEN_BODY, anAccount('bob', { Gold: '1' })],
      ['token_id lines[2].balances[0].token_id'],
    ],
    ['the class of an NFT', [ledgerBody(), anInstance('a', ['bob']), anAccount('bob')], ['class_id lines[1].class_id']],
    ['the owner of an NFT', [ledgerBody(), aClass(), anInstance('a', ['bob'])], ['account_id lines[2].owner']],
    ['no token but that of every ledger', [ledgerBody(), anAccount('bob', { BASE: '1' })], []],
    ['not who had an NFT that is burned', [ledgerBody(), aClass(), anInstance('a', ['bob'], true)], []],
  ]
  test.for(NAMED)('Q2: what records name is in it: %s', async ([, bodies, expected]) => {
    expect(await faultsOf(bodies)).toEqual(expected)
  })

  test('Q2: the class of an attestation must be in the file', async () => {
    const keys = createKeys()
    const { records } = await fileOf(() => [ledgerBody(), anAttestation(keys)], keys)
    const checked = await checkPart(given(records), true, undefined, contextOf(keys))
    if (!checked.ok) throw new Error('refused')
    const walk = new ImportSurvey()
    walk.take(checked.part.staged)
    expect(walk.end()).toMatchObject({ refusal: { faults: [{ field: 'lines[1].attestation.subject_class' }] } })
  })

  test('Q2: a used key of an account must not occur twice, in any parts', async () => {
    const used = (accountId: string, part: number, ...keys: readonly string[]): RecordBody => ({
      record: 'used_keys',
      account_id: accountId,
      part,
      hashes: keys.map((key) => createHash('sha256').update(key).digest('base64url')),
    })
    const alice = (...parts: readonly RecordBody[]) => [ledgerBody(), anAccount('alice'), ...parts, anAccount('bob')]
    const twice = ['field lines[1].account_id']
    expect(await faultsOf(alice(used('alice', 0, 'k1', 'k2'), used('alice', 1, 'k3', 'k1')))).toEqual(twice)
    expect(await faultsOf(alice(used('alice', 0, 'k1', 'k1')))).toEqual(twice)
    expect(await faultsOf([...alice(), used('bob', 0, 'k1', 'k1')])).toEqual(['field lines[2].account_id'])
    const both = [...alice(used('alice', 0, 'k1'), used('alice', 1, 'k2')), used('bob', 0, 'k1')]
    expect(await faultsOf(both)).toEqual([])
    const many = Array.from({ length: 3 }, (_, part) =>
      used('alice', part, ...Array.from({ length: 2_000 }, (__, index) => `k${part * 2_000 + index}`)),
    )
    expect(await faultsOf(alice(...many))).toEqual([])
    expect(await faultsOf(alice(...many, used('alice', 3, 'k4999')))).toEqual(twice)
  })

  test('Q3: balances must not exceed the supply nor the decimals of their token', async () => {
    const fifteen = [ledgerBody(), TOKEN_BODY, anAccount('bob', { GOLD: '14.99' }), anAccount('eve', { GOLD: '0.01' })]
    expect(await faultsOf(fifteen)).toEqual([])
    const more = [...fifteen, anAccount('mallory', { GOLD: '0.01' })]
    expect(await faultsOf(more)).toEqual(['total_supply lines[1].total_supply'])
    const finer = [ledgerBody(), TOKEN_BODY, anAccount('bob', { GOLD: '0.001' })]
    expect(await faultsOf(finer)).toEqual(['balance lines[2].balances[0].encrypted_balance'])
  })

  test('the base unit cannot be imported as a token', async () => {
    const base = { ...TOKEN_BODY, symbol: 'base' } as RecordBody
    expect(await faultsOf([ledgerBody(), base])).toEqual(['symbol lines[1].symbol'])
  })
})
