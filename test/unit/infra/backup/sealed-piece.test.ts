import { generateKeyPairSync, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createOpener, createSealer, PieceBroken } from '../../../../infra/backup/sealed-piece.ts'
import { publicJwkOf, type PublicKey, readPublicKey } from '../../../../infra/keys/public-key.ts'

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const opener = createOpener(privateKey)
const MOST = 1_000_000

function recipient(): PublicKey {
  const key = readPublicKey(publicJwkOf(privateKey))
  if (key === undefined) throw new Error('not a key')
  return key
}

function fillings(): readonly Buffer[] {
  return [Buffer.alloc(0), Buffer.of(1), Buffer.alloc(100_000), randomBytes(100_000)]
}

describe('a sealed piece', () => {
  test('opens to its content, which is compressed if that is worth it', async () => {
    const sealer = createSealer(recipient())
    for (const content of fillings()) {
      const sealed = await sealer.seal('chunks/one', content)
      expect((await opener.open('chunks/one', sealed, MOST)).equals(content)).toBe(true)
    }
    expect((await sealer.seal('chunks/one', Buffer.alloc(100_000))).length).toBeLessThan(1_000)
  })

  test('S1: no two pieces have the same key and nonce', async () => {
    const sealers = [createSealer(recipient()), createSealer(recipient())]
    const headers = await Promise.all(
      [...sealers, ...sealers].map(async (sealer) => (await sealer.seal('x', Buffer.of(1))).toString('hex', 0, 45)),
    )
    expect(new Set(headers).size).toBe(4)
  })

  test('S2: opens under its name only, and not when any bit was changed or bytes are missing', async () => {
    const sealed = await createSealer(recipient()).seal('chunks/one', randomBytes(64))
    await expect(opener.open('chunks/two', sealed, MOST)).rejects.toThrow(PieceBroken)
    await fc.assert(
      fc.asyncProperty(fc.nat(sealed.length * 8 - 1), fc.nat(sealed.length - 1), async (bit, length) => {
        const changed = Buffer.from(sealed)
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        await expect(opener.open('chunks/one', changed, MOST)).rejects.toThrow(PieceBroken)
        await expect(opener.open('chunks/one', sealed.subarray(0, length), MOST)).rejects.toThrow(PieceBroken)
      }),
    )
  })

  test('does not open for another key', async () => {
    const other = createOpener(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)
    const sealed = await createSealer(recipient()).seal('chunks/one', Buffer.of(1))
    await expect(other.open('chunks/one', sealed, MOST)).rejects.toThrow('encrypted to another key')
  })

  test('does not grow beyond its bound when it is decompressed', async () => {
    const sealed = await createSealer(recipient()).seal('chunks/one', Buffer.alloc(100_000))
    await expect(opener.open('chunks/one', sealed, 99_999)).rejects.toThrow(PieceBroken)
  })
})
