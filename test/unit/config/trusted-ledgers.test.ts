/** Only ledgers that the operator names, with the keys that the operator pins, are trusted. */
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Configuration, readConfiguration } from '../../../infra/config/configuration.ts'
import { thumbprintOf } from '../../../infra/keys/public-key.ts'
import { openTrustedLedgers, TrustedLedgersUnusable } from '../../../infra/ledger/trusted-ledgers-file.ts'
import { coordinatesOf } from '../../support/client/client-keys.ts'

const directory = mkdtempSync(join(tmpdir(), 'ledger-trusted-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

function aKey(changes: object = {}): Record<string, unknown> {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x, y } = coordinatesOf(publicKey)
  const kid = thumbprintOf({ kty: 'EC', crv: 'P-256', x, y })
  return {
    kty: 'EC',
    crv: 'P-256',
    x,
    y,
    kid,
    use: 'sig',
    alg: 'ES256',
    purpose: 'assertion',
    nbf: 1_700_000_000,
    ...changes,
  }
}

function read(env: Readonly<Record<string, string>>): Configuration | readonly string[] {
  const result = readConfiguration(env, directory)
  return result.ok ? result.value.configuration : result.error
}

function configurationOf(env: Readonly<Record<string, string>>): Configuration {
  const result = readConfiguration(env, directory)
  if (!result.ok) throw new Error(result.error.join('\n'))
  return result.value.configuration
}

const TEXT = JSON.stringify({
  other: {
    ledger_id: 'other',
    keys: [
      aKey({ exp: 1_800_000_000, revoked: { revoked_at: 1_750_000_000 } }),
      aKey({ purpose: 'attestation' }),
      aKey({ purpose: 'receipt' }),
    ],
  },
})

test('by default no ledger is trusted', async () => {
  expect(await openTrustedLedgers(configurationOf({}))).toEqual(new Map())
})

test('the keys for assertions and attestations are read, with times in milliseconds', async () => {
  const ledgers = await openTrustedLedgers(configurationOf({ LEDGER_TRUSTED_LEDGERS: TEXT }))
  expect([...ledgers.keys()]).toEqual(['other'])
  expect(ledgers.get('other')).toEqual([
    expect.objectContaining({
      purpose: 'assertion',
      activeFromMs: 1_700_000_000_000,
      retiredAtMs: 1_800_000_000_000,
      revokedAtMs: 1_750_000_000_000,
    }),
    expect.objectContaining({ purpose: 'attestation', retiredAtMs: null, revokedAtMs: null }),
  ])
})

test('the value may be in a file', async () => {
  writeFileSync(join(directory, 'trusted.json'), TEXT)
  const fromFile = await openTrustedLedgers(configurationOf({ LEDGER_TRUSTED_LEDGERS_FILE: 'trusted.json' }))
  expect(fromFile).toEqual(await openTrustedLedgers(configurationOf({ LEDGER_TRUSTED_LEDGERS: TEXT })))
})

test('a missing or malformed file stops the edge', async () => {
  writeFileSync(join(directory, 'wrong.json'), '{"other": []}')
  for (const name of ['wrong.json', 'missing.json']) {
    const opening = openTrustedLedgers(configurationOf({ LEDGER_TRUSTED_LEDGERS_FILE: name }))
    await expect(opening).rejects.toThrow(TrustedLedgersUnusable)
    await expect(opening).rejects.toThrow(`LEDGER_TRUSTED_LEDGERS_FILE: ${join(directory, name)} `)
  }
})

test('a value and a file together are refused', () => {
  expect(read({ LEDGER_TRUSTED_LEDGERS: TEXT, LEDGER_TRUSTED_LEDGERS_FILE: 'trusted.json' })).toEqual([
    'LEDGER_TRUSTED_LEDGERS and LEDGER_TRUSTED_LEDGERS_FILE are both set: set one of them.',
  ])
})

const purposeOf = (at: number): object => ({ purpose: at % 2 === 0 ? 'assertion' : 'attestation' })
const many = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`l${at}`, { keys: [aKey()] }]))
const KEPT = aKey()
test.for<[string, string, string]>([
  ['no JSON', '{', 'this is not JSON'],
  ['a JWKS document itself', JSON.stringify({ ledger_id: 'other', keys: [KEPT] }), 'this is a JWKS document itself'],
  [
    'no key for assertions',
    JSON.stringify({ other: { keys: [aKey({ purpose: 'receipt' })] } }),
    'no key for assertions',
  ],
  [
    'the document of another ledger',
    JSON.stringify({ other: { ledger_id: 'another', keys: [KEPT] } }),
    'the value of other is the JWKS document of another.',
  ],
  [
    'a key under a name that is not its own',
    JSON.stringify({ other: { keys: [aKey({ kid: 'A'.repeat(43) })] } }),
    'keys.0 of other',
  ],
  ['17 ledgers', JSON.stringify(many(17)), 'these are 17 ledgers'],
  [
    '513 keys',
    JSON.stringify({ other: { keys: Array.from({ length: 513 }, (_, at) => aKey(purposeOf(at))) } }),
    'more than 512',
  ],
])('a malformed value is refused with the rule, and is not quoted: %s', ([, text, reason]) => {
  const [problem = '', ...others] = read({ LEDGER_TRUSTED_LEDGERS: text }) as readonly string[]
  expect(others).toEqual([])
  expect(problem).toContain('LEDGER_TRUSTED_LEDGERS is not valid: it must be {"<ledger ID>": <its jwks.json>}')
  expect(problem).toContain('at most 16 ledger IDs')
  expect(problem).toContain(reason)
  expect(problem).not.toContain(String(KEPT['x']))
})

test('a ledger ID may be the name of a member that every object has', async () => {
  const text = JSON.stringify({ constructor: { keys: [aKey()] }, prototype: { keys: [aKey()] } })
  const ledgers = await openTrustedLedgers(configurationOf({ LEDGER_TRUSTED_LEDGERS: text }))
  expect([...ledgers.keys()]).toEqual(['constructor', 'prototype'])
})
