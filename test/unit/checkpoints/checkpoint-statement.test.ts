/** Tests S1 to S3 of checkpoint-statement.ts, and the retention of checkpoints. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  levelAt,
  linksAfter,
  linkTo,
  NO_LINKS,
  problemOfSigned,
  readCheckpoint,
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
  type: 'checkpoint',
  number: 3,
  level: 'minute',
  server: '7',
  position: '12',
  chains: `sha256:${'a'.repeat(64)}`,
  links: NO_LINKS,
} as const

function signed(change: Partial<typeof MEMBERS | { level: 'hour' | 'day' }> = {}, nowMs = NOW_MS): Promise<SignedText> {
  const keys = keysOf(published(), privateKey)
  return signStatement({ ledgerId: 'the ledger', keys, nowMs: () => nowMs }, { ...MEMBERS, ...change })
}

function problem(text: SignedText, key = published(), ledgerId: string | undefined = 'the ledger'): string | undefined {
  const statement = readCheckpoint(text.text)
  return statement === undefined ? 'it is no checkpoint' : problemOfSigned(statement, text, [key], ledgerId)
}

describe('a signed checkpoint', () => {
  test('S1, S3: is valid under the key that signed it, for its ledger', async () => {
    expect(problem(await signed())).toBeUndefined()
    expect(problem(await signed(), published(), undefined)).toBeUndefined()
  })

  test('S1: is invalid after a change of its text or signature', async () => {
    const { text, signature } = await signed()
    for (const [from, to] of [
      ['"number":3', '"number":4'],
      ['"position":"12"', '"position":"13"'],
      ['"server":"7"', '"server":"8"'],
      [
        '"previous":null',
        `"previous":{"hash":"sha256:${'b'.repeat(64)}","number":2,"signed_at":"2030-01-02T03:03:05.000Z"}`,
      ],
    ] as const) {
      const changed = text.replace(from, to)
      expect(changed).not.toBe(text)
      expect(problem({ text: changed, signature })).toBe('its signature does not verify')
    }
    expect(problem({ text, signature: 'AAAA' })).toBe('its signature does not verify')
    expect(problem({ text: text.replace('"type":"checkpoint"', '"type":"other"'), signature })).toBe(
      'it is no checkpoint',
    )
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
    expect(problem(await signed({}, NOW_MS - 60_000))).toBeUndefined()
  })

  test('S2: links to the one before it, and to the last hourly and daily ones', async () => {
    const links = async (level: 'minute' | 'hour' | 'day') => {
      const text = await signed({ level })
      const statement = readCheckpoint(text.text)
      if (statement === undefined) throw new Error('it is no checkpoint')
      return { made: linksAfter(statement, text), link: linkTo(statement, text) }
    }
    const [minute, hour, day] = [await links('minute'), await links('hour'), await links('day')]
    expect(minute.made).toEqual({ previous: minute.link, hour: null, day: null })
    expect(hour.made).toEqual({ previous: hour.link, hour: hour.link, day: null })
    expect(day.made).toEqual({ previous: day.link, hour: day.link, day: day.link })
  })
})

test('the first of a day (UTC) is a daily one, the first of an hour an hourly one', () => {
  const hourMs = 3_600_000
  expect(levelAt(NOW_MS, null)).toBe('day')
  expect(levelAt(NOW_MS, NOW_MS - 60_000)).toBe('minute')
  expect(levelAt(NOW_MS, NOW_MS - hourMs)).toBe('hour')
  expect(levelAt(NOW_MS, NOW_MS - 4 * hourMs)).toBe('day')
  expect(levelAt(Date.UTC(2030, 0, 2), Date.UTC(2030, 0, 2) - 1)).toBe('day')
  expect(levelAt(Date.UTC(2030, 0, 2, 1), Date.UTC(2030, 0, 2, 1) - 1)).toBe('hour')
})
