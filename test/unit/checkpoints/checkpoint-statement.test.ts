/** Tests S1 to S3 of checkpoint-statement.ts. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  hashOfStatement,
  problemOfSigned,
  readStatement,
  type SignedText,
  signStatement,
} from '../../../infra/checkpoints/checkpoint-statement.ts'
import type { PublishedKey, ServiceKeys } from '../../../runtime/ports/service-keys.ts'

const NOW_MS = Date.UTC(2030, 0, 2, 3, 4, 5)
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

function published(change: Partial<PublishedKey> = {}): PublishedKey {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const span = { activeFromMs: NOW_MS - 1_000, retiredAtMs: NOW_MS + 1_000, revokedAtMs: null }
  return { keyId: 'the key', purpose: 'assertion', x, y, ...span, ...change }
}

function keysOf(key: PublishedKey, signer: KeyObject): ServiceKeys {
  return {
    published: () => [key],
    current: () => key.keyId,
    sign: (_keyId, texts) =>
      Promise.resolve(texts.map((text) => sign('sha256', Buffer.from(text), signer).toString('base64'))),
  }
}

const MEMBERS = {
  type: 'checkpoint-file',
  as_of: '2030-01-02T03:04:05.000Z',
  accounts: 3,
  content: `sha256:${'a'.repeat(64)}`,
  log_head: { size: 12, root: `sha256:${'c'.repeat(64)}` },
  log_published: 'a note',
} as const

function signed(nowMs = NOW_MS): Promise<SignedText> {
  const keys = keysOf(published(), privateKey)
  return signStatement({ ledgerId: 'the ledger', keys, nowMs: () => nowMs }, MEMBERS)
}

function problem(text: SignedText, key = published(), ledgerId: string | undefined = 'the ledger'): string | undefined {
  const statement = readStatement(text.text)
  return statement === undefined ? 'it is no statement' : problemOfSigned(statement, text, [key], ledgerId)
}

describe('a signed statement', () => {
  test('S1, S3: is valid under the key that signed it, for its ledger', async () => {
    expect(problem(await signed())).toBeUndefined()
    expect(problem(await signed(), published(), undefined)).toBeUndefined()
  })

  test('S1: is invalid after a change of its text or signature', async () => {
    const { text, signature } = await signed()
    for (const [from, to] of [
      ['"accounts":3', '"accounts":4'],
      ['"size":12', '"size":13'],
      ['"log_published":"a note"', '"log_published":null'],
      [`sha256:${'c'.repeat(64)}`, `sha256:${'d'.repeat(64)}`],
    ] as const) {
      const changed = text.replace(from, to)
      expect(changed).not.toBe(text)
      expect(problem({ text: changed, signature })).toBe('its signature does not verify')
    }
    expect(problem({ text, signature: 'AAAA' })).toBe('its signature does not verify')
    const other = text.replace('"type":"checkpoint-file"', '"type":"other"')
    expect(problem({ text: other, signature })).toBe('it is no statement')
  })

  test('S3: is invalid under another key, and under one with another purpose, revoked or not in use', async () => {
    const text = await signed()
    expect(problem(text, published({ keyId: 'another' }))).toMatch(/not a key of this ledger/)
    expect(problem(text, published({ purpose: 'receipt' }))).toMatch(/not for assertions/)
    expect(problem(text, published({ revokedAtMs: NOW_MS }))).toMatch(/revoked/)
    expect(problem(text, published({ activeFromMs: NOW_MS + 1 }))).toMatch(/not in use/)
    expect(problem(text, published({ retiredAtMs: NOW_MS - 1 }))).toMatch(/not in use/)
    expect(problem(text, published(), 'another ledger')).toBe('it is of another ledger')
  })

  test('S3: is never dated before its key came into use', async () => {
    expect(problem(await signed(NOW_MS - 60_000))).toBeUndefined()
  })

  test('S1: the log has the hash of its text', async () => {
    const { text, signature } = await signed()
    expect(hashOfStatement({ text, signature })).toEqual(createHash('sha256').update(text).digest())
  })
})
