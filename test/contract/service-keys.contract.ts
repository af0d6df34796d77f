/** The contract of every ServiceKeys. */
import { p256 } from '@noble/curves/nist.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KEY_PURPOSES, type PublishedKey, type ServiceKeys } from '../../runtime/ports/service-keys.ts'

export interface ServiceKeysSubject {
  readonly keys: ServiceKeys
  readonly nowMs: () => number
  /** When another key for receipts takes the place of the one that is in use now. */
  readonly rotatedAtMs: number
  readonly close: () => Promise<void>
}

/** By an implementation of ECDSA that shares no code with the one that signs. */
export function verifiesUnder(key: PublishedKey | undefined, payload: string, signature: string): boolean {
  if (key === undefined) return false
  const point = Buffer.concat([Buffer.of(4), Buffer.from(key.x, 'base64url'), Buffer.from(key.y, 'base64url')])
  return p256.verify(Buffer.from(signature, 'base64'), Buffer.from(payload), point, { format: 'der', lowS: false })
}

export function serviceKeysContract(name: string, create: () => Promise<ServiceKeysSubject>): void {
  describe(`ServiceKeys: ${name}`, () => {
    let subject: ServiceKeysSubject
    beforeAll(async () => {
      subject = await create()
    })
    afterAll(() => subject.close())
    const published = (keyId: string): PublishedKey | undefined =>
      subject.keys.published().find((key) => key.keyId === keyId)

    test.for([...KEY_PURPOSES])(
      'the key that signs for %s now is published, for that purpose, and in its span',
      (purpose) => {
        const key = published(subject.keys.current(purpose))
        expect(key).toMatchObject({ purpose })
        expect(key?.activeFromMs).toBeLessThanOrEqual(subject.nowMs())
        expect(key?.retiredAtMs ?? Infinity).toBeGreaterThan(subject.nowMs())
      },
    )

    test('purposes have keys of their own', () => {
      const current = KEY_PURPOSES.map((purpose) => subject.keys.current(purpose))
      expect(new Set(current).size).toBe(KEY_PURPOSES.length)
    })

    test.for([...KEY_PURPOSES])(
      'what is signed for %s verifies under the published key, in order, and nothing else does',
      async (purpose) => {
        const keyId = subject.keys.current(purpose)
        const signatures = await subject.keys.sign(keyId, ['{"a":1}', '{"ö":2}'])
        expect(signatures.length).toBe(2)
        expect(verifiesUnder(published(keyId), '{"a":1}', signatures[0] ?? '')).toBe(true)
        expect(verifiesUnder(published(keyId), '{"ö":2}', signatures[1] ?? '')).toBe(true)
        expect(verifiesUnder(published(keyId), '{"a":2}', signatures[0] ?? '')).toBe(false)
      },
    )

    test('what is dated about a rotation names the key whose span it lies in, whatever the time is now', async () => {
      const { keys, rotatedAtMs } = subject
      const [before, after] = [rotatedAtMs - 1, rotatedAtMs].map((datedMs) => keys.current('receipt', datedMs))
      expect(before).not.toBe(after)
      expect(published(before ?? '')?.retiredAtMs).toBe(rotatedAtMs)
      expect(published(after ?? '')?.activeFromMs).toBe(rotatedAtMs)
      for (const keyId of [before ?? '', after ?? '']) {
        const [signature = ''] = await keys.sign(keyId, ['{}'])
        expect(verifiesUnder(published(keyId), '{}', signature)).toBe(true)
      }
    })

    test('a key that is not there signs nothing', async () => {
      await expect(subject.keys.sign('no such key', ['{}'])).rejects.toThrow(/key/i)
    })
  })
}
