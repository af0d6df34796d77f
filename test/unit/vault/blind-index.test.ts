/** References of accounts and keys are HMAC-SHA-256 for texts of any length, cached or not. */
import { createHmac, hkdfSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { createBlindIndex } from '../../../infra/vault/blind-index.ts'

const SECRET = Buffer.alloc(32, 9)

function reference(use: string, text: string): string {
  const key = Buffer.from(hkdfSync('sha256', SECRET, '', `ledger/index/${use}/1`, 32))
  return createHmac('sha256', key).update(text, 'utf8').digest().toString('base64url', 0, 16)
}

const TEXTS = [
  '',
  'alice',
  'z\u00fcrich@b\u00e4nk',
  '\u{1f3e6}'.repeat(128),
  'x'.repeat(512),
  'x'.repeat(513),
  'y'.repeat(5_000),
]

test('references of accounts and keys are those of the keyed hash', () => {
  const index = createBlindIndex(SECRET, 2)
  for (const text of [...TEXTS, ...TEXTS]) {
    expect(index.accountRef(text)).toBe(reference('account', text))
    expect(index.keyRef('owner', text)).toBe(reference('idempotency-key', `owner\u001f${text}`))
  }
})

test('a returned reference does not change with later calls', () => {
  const index = createBlindIndex(SECRET)
  const alice = index.accountRef('alice')
  const key = index.keyRef('alice', 'key')
  index.accountRef('bob')
  index.keyRef('bob', 'key')
  expect([alice, key]).toEqual([reference('account', 'alice'), reference('idempotency-key', 'alice\u001fkey')])
})
