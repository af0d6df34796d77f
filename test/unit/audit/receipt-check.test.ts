/** Tests that a receipt is valid only under a receipt key of the service while it was in use. */
import { createPublicKey, type KeyObject, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import { loadReceiptCheck } from '../../../infra/audit/receipt-check.ts'
import { thumbprintOf } from '../../../infra/keys/public-key.ts'
import { newAccountKeys } from '../../support/client/client-keys.ts'
import { EXAMPLE_KEYS } from '../../support/example-keys.ts'
import { COMPLETED_EXCHANGE, GOLDEN_KEY_ID, GOLDEN_LEDGER_ID } from '../../support/golden-receipts.ts'

const MINUTE_MS = 60_000
const privateKey = firstKey()
const { x = '', y = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
const { transaction, payload } = COMPLETED_EXCHANGE
const processedAtMs = transaction.processedAtMs ?? 0

function firstKey(): KeyObject {
  const [key] = EXAMPLE_KEYS
  if (key === undefined) throw new Error('there is a key')
  return key
}

function signed(text: string): string {
  return sign('sha256', Buffer.from(text), privateKey).toString('base64')
}

interface KeyRow {
  readonly key_id: string
  readonly purpose: string
  readonly x: string
  readonly y: string
  readonly active_from: Date
  readonly retired_at: Date | null
  readonly revoked_at: Date | null
}

const ROW: KeyRow = {
  key_id: GOLDEN_KEY_ID,
  purpose: 'receipt',
  x,
  y,
  active_from: new Date(processedAtMs - MINUTE_MS),
  retired_at: null,
  revoked_at: null,
}

/** Problem of a receipt of `transaction` that names the row's key. */
async function said(changes: Partial<KeyRow> = {}, given: { keyId?: string; signature?: string } = {}) {
  const row = { ...ROW, ...changes }
  const keyId = given.keyId ?? row.key_id
  const signature = given.signature ?? signed(payload.replace(GOLDEN_KEY_ID, keyId))
  const rows: readonly object[] = [row]
  const query = <Row>(): Promise<readonly Row[]> => Promise.resolve(rows as readonly Row[])
  return (await loadReceiptCheck(query, GOLDEN_LEDGER_ID))(transaction, { keyId, signature })
}

test('V1: a receipt that the service signed is valid', async () => {
  expect(await said()).toBeUndefined()
})

test('V1: no other key is accepted', async () => {
  const other = newAccountKeys().jwk
  expect(await said({}, { keyId: 'another' })).toBe('the key that its receipt names is not there')
  expect(await said({ purpose: 'assertion' })).toBe('the key that its receipt names is for another purpose')
  expect(await said({ revoked_at: new Date() })).toBe('the key that its receipt names was revoked')
  expect(await said({ key_id: 'ours' })).toBe('the key that its receipt names is not the one of that name')
  expect(await said({ x: String(other['x']), y: String(other['y']) })).toBe(
    'the key that its receipt names is not the one of that name',
  )
  const nowhere = thumbprintOf({ kty: 'EC', crv: 'P-256', x: y, y: x })
  expect(await said({ key_id: nowhere, x: y, y: x })).toBe('the key that its receipt names is no key')
})

test('V1: a wrong signature is refused', async () => {
  const ofAnother = signed(payload.replace('"100.50"', '"100.51"'))
  for (const signature of ['', '!', 'AAAA', ofAnother]) {
    expect([signature, await said({}, { signature })]).toEqual([signature, 'its receipt does not verify'])
  }
})

test('V2: the key was in use at the time, or a few minutes before or after', async () => {
  const at = (minutes: number): Date => new Date(processedAtMs + minutes * MINUTE_MS)
  const unused = 'the key that its receipt names was not in use then'
  expect(await said({ active_from: at(5) })).toBeUndefined()
  expect(await said({ active_from: at(6) })).toBe(unused)
  expect(await said({ retired_at: at(-5) })).toBeUndefined()
  expect(await said({ retired_at: at(-6) })).toBe(unused)
})
