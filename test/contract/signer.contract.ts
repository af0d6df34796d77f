/** The contract of every Signer: G1 to G3 of the port. */
import { describe, expect, test } from 'vitest'
import type { Signer } from '../../runtime/ports/signer.ts'

export interface SignerSubject {
  readonly signer: Signer
  /** When one key for receipts takes the place of another. */
  readonly rotatedAtMs: number
  /** A key of a client, and what it signs with it. */
  readonly clientKey: () => ClientKey
  /** Whether the service's key of this ID signed the payload: judged by something other than the signer. */
  readonly verifies: (keyId: string, payload: string, signature: string) => boolean
  /** Lets the work come to its end: where time is simulated, by running it. */
  readonly settle: <T>(work: Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

export interface ClientKey {
  readonly publicKey: string
  readonly sign: (payload: string) => string
}

export function signerContract(name: string, create: () => Promise<SignerSubject>): void {
  const withSigner = (run: (subject: SignerSubject) => Promise<void>) => async (): Promise<void> => {
    const subject = await create()
    try {
      await run(subject)
    } finally {
      await subject.close()
    }
  }

  describe(`Signer: ${name}`, () => {
    test(
      'G1: a signature counts for its own payload and key only',
      withSigner(async ({ signer, clientKey, settle }) => {
        const [alice, bob] = [clientKey(), clientKey()]
        const payload = '{"amount":"1"}'
        const signature = alice.sign(payload)
        const verdicts = await settle(
          signer.verifyMany([
            { publicKey: alice.publicKey, payload, signature },
            { publicKey: bob.publicKey, payload, signature },
            { publicKey: alice.publicKey, payload: '{"amount":"2"}', signature },
            { publicKey: alice.publicKey, payload: `${payload} `, signature },
            { publicKey: alice.publicKey, payload, signature: bob.sign(payload) },
          ]),
        )
        expect(verdicts).toEqual([true, false, false, false, false])
      }),
    )

    test(
      'G1: verdicts come in the order of the checks, however many',
      withSigner(async ({ signer, clientKey, settle }) => {
        const key = clientKey()
        const good = Array.from({ length: 60 }, (_, index) => index % 3 !== 0)
        const checks = good.map((isGood, index) => ({
          publicKey: key.publicKey,
          payload: `payload ${index}`,
          signature: key.sign(isGood ? `payload ${index}` : 'another'),
        }))
        expect(await settle(signer.verifyMany(checks))).toEqual(good)
        expect(await settle(signer.verifyMany([]))).toEqual([])
      }),
    )

    test(
      'G1: garbage is false, never an error',
      withSigner(async ({ signer, clientKey, settle }) => {
        const key = clientKey()
        const signature = key.sign('payload')
        const garbage = ['', ' ', 'x', '!!!!', '\0', 'é', 'A'.repeat(86), 'A'.repeat(100_000), `${signature}AAAA`]
        const verdicts = await settle(
          signer.verifyMany([
            ...garbage.map((text) => ({ publicKey: key.publicKey, payload: 'payload', signature: text })),
            ...['', 'x', 'A'.repeat(44)].map((publicKey) => ({ publicKey, payload: 'payload', signature })),
          ]),
        )
        expect(verdicts).toEqual(verdicts.map(() => false))
        expect(verdicts).toHaveLength(garbage.length + 3)
      }),
    )

    test(
      'G1: payloads are their UTF-8, nothing folded',
      withSigner(async ({ signer, clientKey, settle }) => {
        const key = clientKey()
        const signature = key.sign('{"n":"é€😀"}')
        const check = (payload: string) => ({ publicKey: key.publicKey, payload, signature })
        expect(
          await settle(signer.verifyMany([check('{"n":"é€😀"}'), check('{"n":"é€😀"}'.normalize('NFD'))])),
        ).toEqual([true, false])
      }),
    )

    test(
      'G2: what signMany returns verifies, in order, under the key it names and for no other payload',
      withSigner(async ({ signer, rotatedAtMs, verifies, settle }) => {
        const keyId = signer.receiptKeyId(rotatedAtMs)
        const payloads = Array.from({ length: 40 }, (_, index) => `{"receipt":"${index} é"}`)
        const signatures = await settle(signer.signMany(keyId, payloads))
        expect(signatures).toHaveLength(payloads.length)
        payloads.forEach((payload, index) => {
          expect(verifies(keyId, payload, signatures[index] ?? '')).toBe(true)
          expect(verifies(keyId, `${payload} `, signatures[index] ?? '')).toBe(false)
        })
        expect(await settle(signer.signMany(keyId, []))).toEqual([])
      }),
    )

    test(
      'G3: a receipt names the key that was in use at its own time, before a rotation and after it, and both sign',
      withSigner(async ({ signer, rotatedAtMs, verifies, settle }) => {
        const times = [rotatedAtMs - 60_000, rotatedAtMs - 1, rotatedAtMs, rotatedAtMs + 60_000]
        const keyIds = times.map((processedAtMs) => signer.receiptKeyId(processedAtMs))
        const [before = '', , after = ''] = keyIds
        expect(before).not.toBe(after)
        expect(keyIds).toEqual([before, before, after, after])
        for (const keyId of [before, after]) {
          const [signature = ''] = await settle(signer.signMany(keyId, ['{}']))
          expect([before, after].map((id) => verifies(id, '{}', signature))).toEqual([
            keyId === before,
            keyId === after,
          ])
        }
      }),
    )

    test(
      "G2: a key that is not the service's signs nothing",
      withSigner(async ({ signer, settle }) => {
        await expect(settle(signer.signMany('no-such-key', ['payload']))).rejects.toBeInstanceOf(Error)
      }),
    )
  })
}
