/** Signatures under transactions, step by step. */
import { createHash, sign } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'
import { expect } from 'vitest'
import { type Holder, type HttpReply, membersOf, textOf } from '../../support/client.ts'
import { canonical, type Members, signatureBytes, signed } from '../../support/client-keys.ts'
import { fieldsOf, keyed, outcomeOf } from '../../support/client-moves.ts'
import { isSignedBy } from './signatures.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'

const MISMATCH = '403 ERR_SIGNATURE_MISMATCH'

export function signingChapter(suite: Suite): void {
  const row = suite.chapter('Transaction signing')

  row('without the signature field', 'the payload is the body without it, and all of the rest', async (stage) => {
    const { alice } = stage.cast
    const body = orderOf(alice)
    expect((await submit(stage, signed(body, alice.keys.privateKey))).status).toBe(202)
    const over = signatureBytes({ ...orderOf(alice), signature: 'x' }, alice.keys.privateKey).toString('base64url')
    expect(outcomeOf(await submit(stage, { ...orderOf(alice), signature: over }))).toBe(MISMATCH)
    for (const changed of [{ amount: '2' }, { type: 'debit' }, { token_id: 'COIN' }, { metadata: { a: 'b' } }]) {
      const tampered = { ...signed(orderOf(alice), alice.keys.privateKey), ...changed }
      expect([changed, outcomeOf(await submit(stage, tampered))]).toEqual([changed, MISMATCH])
    }
  })

  row('canonical form', 'keys sorted, no space outside strings, however the body was written', async (stage) => {
    const { alice } = stage.cast
    const body = { ...orderOf(alice), metadata: { b: '€ "x"', a: ': , ' } }
    const written = Object.entries(signed(body, alice.keys.privateKey)).toReversed()
    const spaced = JSON.stringify(Object.fromEntries(written), null, '\t')
    expect((await stage.transactor.post('/v1/transactions', spaced)).status).toBe(202)
    const unsorted = JSON.stringify(Object.fromEntries(Object.entries(orderOf(alice)).toReversed()))
    const wrong = sign('sha256', Buffer.from(unsorted), { key: alice.keys.privateKey, dsaEncoding: 'ieee-p1363' })
    const fields = { ...(JSON.parse(unsorted) as Members), signature: wrong.toString('base64url') }
    expect(outcomeOf(await submit(stage, fields))).toBe(MISMATCH)
  })

  row('SHA-256 and P-256', 'over the digest of the payload, by another implementation too', async (stage) => {
    const { alice } = stage.cast
    const { d = '' } = alice.keys.privateKey.export({ format: 'jwk' })
    const body = orderOf(alice)
    const digest = createHash('sha256').update(canonical(body)).digest()
    const bytes = p256.sign(digest, Buffer.from(d, 'base64url'), { prehash: false })
    const signature = Buffer.from(bytes).toString('base64url')
    expect((await submit(stage, { ...body, signature })).status).toBe(202)
    const twice = p256.sign(createHash('sha256').update(digest).digest(), Buffer.from(d, 'base64url'), {
      prehash: false,
    })
    const other = orderOf(alice)
    expect(outcomeOf(await submit(stage, { ...other, signature: Buffer.from(twice).toString('base64url') }))).toBe(
      MISMATCH,
    )
    const sha512 = sign('sha512', Buffer.from(canonical(other)), {
      key: alice.keys.privateKey,
      dsaEncoding: 'ieee-p1363',
    })
    expect(outcomeOf(await submit(stage, { ...other, signature: sha512.toString('base64url') }))).toBe(MISMATCH)
  })

  row('base64url', 'of 64 bytes or of DER, base64 too, with padding or without', async (stage) => {
    const { alice } = stage.cast
    const encodings: readonly ((raw: Buffer, der: Buffer) => string)[] = [
      (raw) => raw.toString('base64url'),
      (raw) => `${raw.toString('base64url')}==`,
      (raw) => raw.toString('base64'),
      (_, der) => der.toString('base64url'),
      (_, der) => der.toString('base64'),
    ]
    for (const encoded of encodings) {
      const body = orderOf(alice)
      const der = sign('sha256', Buffer.from(canonical(body)), alice.keys.privateKey)
      const signature = encoded(signatureBytes(body, alice.keys.privateKey), der)
      expect([signature, (await submit(stage, { ...body, signature })).status]).toEqual([signature, 202])
    }
    const body = orderOf(alice)
    const hex = signatureBytes(body, alice.keys.privateKey).toString('hex')
    expect(outcomeOf(await submit(stage, { ...body, signature: hex }))).toBe(MISMATCH)
  })

  row('Bearer token beside it', 'a signed order without a token is 401', async ({ ask, cast }) => {
    const body = JSON.stringify(signed(orderOf(cast.alice), cast.alice.keys.privateKey))
    const headers = { 'content-type': 'application/json' }
    const reply = await ask({ method: 'POST', path: '/v1/transactions', headers, body })
    expect(outcomeOf(reply)).toBe('401 ERR_UNAUTHORIZED')
  })

  row('missing signature', '400 ERR_INVALID_SIGNATURE; empty or no string too', async (stage) => {
    for (const signature of [undefined, '', null, 7, {}]) {
      const reply = await submit(stage, { ...orderOf(stage.cast.alice), signature } as Members)
      expect([signature, outcomeOf(reply), fieldsOf(reply)]).toEqual([
        signature,
        '400 ERR_INVALID_SIGNATURE',
        ['signature'],
      ])
    }
  })

  row('another signature', 'one that does not match the registered key is 403, garbage included', async (stage) => {
    const { alice, bob } = stage.cast
    const foreign = signed(orderOf(alice), bob.keys.privateKey)
    expect(outcomeOf(await submit(stage, foreign))).toBe(MISMATCH)
    for (const signature of ['garbage', '!', 'A'.repeat(86), 'A'.repeat(5000)]) {
      expect([signature, outcomeOf(await submit(stage, { ...orderOf(alice), signature }))]).toEqual([
        signature,
        MISMATCH,
      ])
    }
  })

  row('assertion signatures', 'base64 DER over the result, by a key of the service', async (stage) => {
    const reply = await stage.viewer.post('/v1/assertions/proof-of-compliance', { requester: 'signing' })
    const { result, signature } = membersOf(reply)
    const key = await stage.publishedKey('assertion', textOf(result as Members, 'key_id'))
    expect(isSignedBy(key, canonical(result as Members), String(signature))).toBe(true)
  })
}

function orderOf({ accountId }: Holder): Members {
  return keyed({ account_id: accountId, type: 'credit', amount: '1' })
}

function submit({ transactor }: Stage, body: Members): Promise<HttpReply> {
  return transactor.post('/v1/transactions', body)
}
