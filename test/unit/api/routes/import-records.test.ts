/** The edge checks each record of an export and reports all wrong fields together, each under its code. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../../../actors/canonical-json.ts'
import { NO_LINE } from '../../../../api/schemas/requests/export-records.ts'
import { RECORD_KINDS, recordErrors } from '../../../../api/schemas/requests/export-records.ts'
import { readPublicKey } from '../../../../infra/keys/public-key.ts'
import { newAccountKeys } from '../../../support/client/client-keys.ts'
import { fileOf } from '../../portability/import-scene.ts'

const { records } = await fileOf()

function aRecord(kind: string, changes: JsonObject = {}): JsonObject {
  const found = records.find(({ record }) => record === kind)
  if (found === undefined) throw new Error(`there is no ${kind}`)
  return { ...found, ...changes }
}

function without(record: JsonObject, ...fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([field]) => !fields.includes(field)))
}

function told(record: JsonObject): readonly string[] {
  return recordErrors(record, 'records[0]', readPublicKey).map(({ field, code }) => `${field} ${code}`)
}

/** The kind of record, a field, an invalid value and its error code. */
const WRONG: readonly (readonly [kind: string, field: string, value: JsonObject[string], code: string])[] = [
  ['ledger', 'format', 2, 'ERR_INVALID_FIELD'],
  ['ledger', 'ledger_id', '', 'ERR_INVALID_FIELD'],
  ['ledger', 'audience', 7, 'ERR_INVALID_FIELD'],
  ['ledger', 'mode', 'steal', 'ERR_INVALID_FIELD'],
  ['ledger', 'partial', 'no', 'ERR_INVALID_FIELD'],
  ['ledger', 'exported_at', 'yesterday', 'ERR_INVALID_TIMESTAMP'],
  ['ledger', 'encrypted_key_salt', 'plain', 'ERR_INVALID_FIELD'],
  ['token', 'symbol', '-', 'ERR_INVALID_SYMBOL'],
  ['token', 'decimals', 19, 'ERR_INVALID_DECIMALS'],
  ['token', 'issuer', '', 'ERR_INVALID_ISSUER'],
  ['token', 'initial_supply', '-1', 'ERR_INVALID_INITIAL_SUPPLY'],
  ['token', 'initial_supply', '1.001', 'ERR_INVALID_INITIAL_SUPPLY'],
  ['token', 'total_supply', 1, 'ERR_INVALID_TOTAL_SUPPLY'],
  ['token', 'total_supply', '1.001', 'ERR_INVALID_TOTAL_SUPPLY'],
  ['token', 'created_at', '2026-02-30T00:00:00Z', 'ERR_INVALID_CREATED_AT'],
  ['nft_class', 'class_id', 'cls_1', 'ERR_INVALID_CLASS_ID'],
  ['nft_class', 'name', '', 'ERR_INVALID_NAME'],
  ['nft_class', 'description', 7, 'ERR_INVALID_FIELD'],
  ['nft_class', 'issuer', 'a b', 'ERR_INVALID_ISSUER'],
  ['nft_class', 'metadata_schema', [], 'ERR_INVALID_SCHEMA'],
  ['nft_class', 'created_at', 7, 'ERR_INVALID_CREATED_AT'],
  ['nft_instance', 'class_id', '', 'ERR_INVALID_CLASS_ID'],
  ['nft_instance', 'instance_id', '..', 'ERR_INVALID_FIELD'],
  ['nft_instance', 'owner', '', 'ERR_INVALID_ACCOUNT_ID'],
  ['nft_instance', 'owner', 'erased:0123456789ab', 'ERR_INVALID_ACCOUNT_ID'],
  ['nft_instance', 'status', 'held', 'ERR_INVALID_FIELD'],
  ['nft_instance', 'metadata', 'text', 'ERR_INVALID_FIELD'],
  ['nft_instance', 'minted_at', '', 'ERR_INVALID_TIMESTAMP'],
  ['nft_instance', 'acquired_at', '2026', 'ERR_INVALID_TIMESTAMP'],
  ['nft_instance', 'history', [], 'ERR_INVALID_FIELD'],
  ['attestation', 'attestation', 'text', 'ERR_INVALID_FIELD'],
  ['account', 'account_id', '', 'ERR_INVALID_ACCOUNT_ID'],
  ['account', 'status', 'erased', 'ERR_INVALID_FIELD'],
  ['account', 'incoming', 'maybe', 'ERR_INVALID_FIELD'],
  ['account', 'public_key', { kty: 'EC' }, 'ERR_INVALID_PUBLIC_KEY'],
  ['account', 'public_key', 'text', 'ERR_INVALID_PUBLIC_KEY'],
  ['account', 'balances', {}, 'ERR_INVALID_BALANCE'],
  ['account', 'txn_count', -1, 'ERR_INVALID_TXN_COUNT'],
  ['account', 'audit_hash', 'ab'.repeat(32), 'ERR_INVALID_FIELD'],
  ['account', 'created_at', null, 'ERR_INVALID_CREATED_AT'],
  ['account', 'updated_at', 'now', 'ERR_INVALID_UPDATED_AT'],
  ['account', 'updated_at', '2001-01-01T00:00:00Z', 'ERR_INVALID_UPDATED_AT'],
  ['used_keys', 'account_id', 7, 'ERR_INVALID_ACCOUNT_ID'],
  ['used_keys', 'part', 0.5, 'ERR_INVALID_FIELD'],
  ['used_keys', 'hashes', [], 'ERR_INVALID_FIELD'],
  ['proof', 'ledger_id', '', 'ERR_INVALID_FIELD'],
  ['proof', 'audience', '', 'ERR_INVALID_FIELD'],
  ['proof', 'timestamp', 'soon', 'ERR_INVALID_TIMESTAMP'],
  ['proof', 'requester', '', 'ERR_INVALID_REQUESTER'],
  ['proof', 'proof_system', 'groth16', 'ERR_INVALID_PROOF_SYSTEM'],
  ['proof', 'proof_hash', 'sha256:', 'ERR_INVALID_PROOF_HASH'],
  ['proof', 'key_id', 'short', 'ERR_INVALID_FIELD'],
  ['proof', 'signature', '', 'ERR_INVALID_SIGNATURE'],
]

test('records that the ledger writes are accepted', () => {
  expect(records.map((record) => record['record'])).toEqual(expect.arrayContaining([...RECORD_KINDS]))
  expect(records.flatMap(told)).toEqual([])
  expect(told(aRecord('account', { public_key: newAccountKeys().jwk }))).toEqual([])
  expect(told(aRecord('token', { decimals: 2, initial_supply: '1.05', total_supply: '7.25' }))).toEqual([])
})

test.for(WRONG)('%s: %s that is %j is refused', ([kind, field, value, code]) => {
  expect(told(aRecord(kind, { [field]: value }))).toEqual([`records[0].${field} ${code}`])
})

test.for([...new Set(WRONG.map(([kind, field, , code]) => `${kind} ${field} ${code}`))])(
  'a missing field is refused: %s',
  (row) => {
    const [kind = '', field = '', code = ''] = row.split(' ')
    expect(told(without(aRecord(kind), field))).toEqual([`records[0].${field} ${code}`])
  },
)

test.for([...RECORD_KINDS])('%s: an unknown member is refused, because it was signed', (kind) => {
  expect(told(aRecord(kind, { color: 'red' }))).toEqual(['records[0].color ERR_UNKNOWN_FIELD'])
})

test.for([...RECORD_KINDS])('%s: line and previous_hash are required', (kind) => {
  expect(told(aRecord(kind, { line: '0', previous_hash: 'none' }))).toEqual([
    'records[0].line ERR_INVALID_FIELD',
    'records[0].previous_hash ERR_INVALID_FIELD',
  ])
})

test('an unknown kind of record is refused', () => {
  expect(told({ record: 'receipt', line: 0, previous_hash: NO_LINE })).toEqual(['records[0].record ERR_INVALID_FIELD'])
  expect(told({})).toEqual(['records[0].record ERR_INVALID_FIELD'])
})

test('all faults of a record are reported together', () => {
  const changes = { symbol: '', decimals: -1, issuer: null, initial_supply: 'x', total_supply: 'y', created_at: 'z' }
  expect(told(aRecord('token', changes))).toEqual([
    'records[0].symbol ERR_INVALID_SYMBOL',
    'records[0].decimals ERR_INVALID_DECIMALS',
    'records[0].issuer ERR_INVALID_ISSUER',
    'records[0].initial_supply ERR_INVALID_INITIAL_SUPPLY',
    'records[0].total_supply ERR_INVALID_TOTAL_SUPPLY',
    'records[0].created_at ERR_INVALID_CREATED_AT',
  ])
})

test('a balance has a token and an encrypted amount, and each token occurs once', () => {
  const [good] = aRecord('account')['balances'] as readonly JsonObject[]
  const balances = [
    good ?? {},
    { token_id: 'BASE' },
    { token_id: '-', encrypted_balance: '5' },
    good ?? {},
    { ...good, plain: '5' },
  ]
  expect(told(aRecord('account', { balances }))).toEqual([
    'records[0].balances[1].encrypted_balance ERR_INVALID_BALANCE',
    'records[0].balances[2].token_id ERR_INVALID_TOKEN_ID',
    'records[0].balances[2].encrypted_balance ERR_INVALID_BALANCE',
    'records[0].balances[4].plain ERR_UNKNOWN_FIELD',
    'records[0].balances[3].token_id ERR_INVALID_TOKEN_ID',
    'records[0].balances[4].token_id ERR_INVALID_TOKEN_ID',
  ])
})

test('the entries of a history are checked like records', () => {
  const [event] = aRecord('nft_instance')['history'] as readonly JsonObject[]
  const history = [{ ...event, type: 'gift', from: '', to: '', txn_id: 'x', timestamp: 'x', payload: '' }]
  expect(told(aRecord('nft_instance', { history }))).toEqual([
    'records[0].history[0].type ERR_INVALID_TYPE',
    'records[0].history[0].from ERR_INVALID_ACCOUNT_ID',
    'records[0].history[0].to ERR_INVALID_ACCOUNT_ID',
    'records[0].history[0].txn_id ERR_INVALID_FIELD',
    'records[0].history[0].timestamp ERR_INVALID_TIMESTAMP',
    'records[0].history[0].payload ERR_INVALID_FIELD',
  ])
})

test('exactly the revoked attestations have the members of a revocation', () => {
  const shown = aRecord('attestation')['attestation'] as JsonObject
  expect(told(aRecord('attestation', { attestation: { ...shown, status: 'revoked' } }))).toEqual([
    'records[0].attestation.revoked_at ERR_INVALID_TIMESTAMP',
    'records[0].attestation.revoked_by ERR_INVALID_FIELD',
  ])
  expect(told(aRecord('attestation', { attestation: { ...shown, revoked_by: 'somebody' } }))).toEqual([
    'records[0].attestation.revoked_by ERR_INVALID_FIELD',
  ])
})

test('an attester is any printable name, and only an account ID can be verified', () => {
  const shown = aRecord('attestation')['attestation'] as JsonObject
  const of = (changes: JsonObject): readonly string[] =>
    told(aRecord('attestation', { attestation: { ...shown, ...changes } }))
  expect(of({ attester: 'Lab GmbH', attester_verified: false })).toEqual([])
  expect(of({ attester: 'Lab GmbH', attester_verified: true })).toEqual([
    'records[0].attestation.attester_verified ERR_INVALID_FIELD',
  ])
  expect(of({ attester: 'erased:0123456789ab', attester_verified: false })).toEqual([
    'records[0].attestation.attester ERR_INVALID_FIELD',
  ])
})

test('an attestation may have been imported before, at a valid time', () => {
  const { attestation } = aRecord('attestation')
  const came = (changes: JsonObject): readonly string[] =>
    told(aRecord('attestation', { attestation: { ...(attestation as JsonObject), ...changes } }))
  const submitted = { submitted_by: `import ${'x'.repeat(128)}` }
  expect(came({ ...submitted, imported_at: '2025-10-09T08:53:20.000Z' })).toEqual([])
  expect(came({ ...submitted, imported_at: 'once' })).toEqual([
    'records[0].attestation.imported_at ERR_INVALID_TIMESTAMP',
  ])
})
