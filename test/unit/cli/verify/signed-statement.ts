/** A statement of alice in two pages, which a key of these tests signs. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { canonical, type Members } from '../../../support/client/client-keys.ts'

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const { x, y } = publicKey.export({ format: 'jwk' })
const KEY = { kid: 'K'.repeat(43), purpose: 'assertion', x, y, nbf: Date.parse('2026-01-01T00:00:00Z') / 1000 }
export const JWKS = { ledger_id: 'this-ledger', keys: [KEY] }

const RANGE = {
  account_id: 'alice',
  token_id: 'GOLD',
  from: '2026-01-01T00:00:00.000Z',
  to: '2026-02-01T00:00:00.000Z',
}
export const FIRST: Members = {
  ...RANGE,
  opening: '100',
  opening_sequence: 4,
  movements: [
    { sequence: 5, txn_id: 'txn_1', type: 'credit', amount: '+0.5', balance_after: '100.5' },
    { sequence: 9, txn_id: 'txn_2', type: 'transfer', amount: '-100', balance_after: '0.5' },
  ],
  closing: '0.5',
  closing_sequence: 9,
  first_page: true,
  last_page: false,
}
export const SECOND: Members = {
  ...RANGE,
  opening: '0.5',
  opening_sequence: 9,
  movements: [],
  closing: '0.5',
  closing_sequence: 9,
  first_page: false,
  last_page: true,
}

export function signed(page: Members): Members {
  const content = {
    ...page,
    ledger_id: 'this-ledger',
    generated_at: '2026-02-01T12:00:00.000Z',
    key_id: KEY.kid,
    ...page,
  }
  const signature = sign('sha256', Buffer.from(canonical(content)), privateKey).toString('base64')
  return { ...content, signature, next_page_token: 'any' }
}
