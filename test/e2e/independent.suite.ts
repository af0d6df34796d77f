/**
 * Goal: what the ledger signs and what it accepts rests on nothing of its own: two other implementations of P-256 agree
 * with it, WebCrypto and @noble/curves (D6, D9, D12).
 */
import { p256 } from '@noble/curves/nist.js'
import { webcrypto } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { type LedgerClient, membersOf, send, textOf } from '../support/client.ts'
import { canonical, type Members } from '../support/client-keys.ts'
import { ended } from '../support/client-moves.ts'
import type { GetRunning } from './running.ts'

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

/** A signed statement of the service: canonical JSON of `payload` under `signature`, by the key that it names. */
interface Signed {
  readonly payload: Members
  readonly signature: string
}

export function independentSuite(running: GetRunning): void {
  describe('other implementations of P-256', () => {
    let keys: ReadonlyMap<string, Members>
    let statements: readonly Signed[]

    beforeAll(async () => {
      const { client } = running()
      const account = await subtleAccount(client, 'webcrypto@independent')
      const receipt = membersOf(await account.submit({ type: 'credit', amount: '12.5', idempotency_key: 'one' }))
      await ended(client, receipt)
      statements = [
        await receiptOf(client, textOf(receipt, 'txn_id')),
        await assertionOf(client, 'proof-of-liabilities'),
        await assertionOf(client, 'proof-of-compliance'),
      ]
      const jwks = membersOf(await send(client.origin, { method: 'GET', path: '/.well-known/jwks.json' }))
      keys = new Map((jwks['keys'] as readonly Members[]).map((key) => [textOf(key, 'kid'), key]))
    })

    test('WebCrypto: an order that it signed is taken, and what the service signed verifies, unless it was changed', async () => {
      for (const { payload, signature } of statements) {
        const { x, y } = keyOf(keys, payload)
        const jwk = { kty: 'EC', crv: 'P-256', x: String(x), y: String(y) }
        const key = await webcrypto.subtle.importKey('jwk', jwk, ECDSA, false, ['verify'])
        const verifies = (text: string): Promise<boolean> =>
          webcrypto.subtle.verify(ECDSA, key, rawOf(Buffer.from(signature, 'base64')), Buffer.from(text))
        expect(await verifies(canonical(payload))).toBe(true)
        expect(await verifies(canonical({ ...payload, key_id: 'another' }))).toBe(false)
      }
    })

    test('@noble/curves: an order that it signed is taken, and what the service signed verifies, unless it was changed', async () => {
      const { client } = running()
      const secretKey = p256.utils.randomSecretKey()
      const point = Buffer.from(p256.getPublicKey(secretKey, true)).toString('base64url')
      const body = { account_id: 'noble@independent', public_key: point }
      expect((await client.post('/v1/accounts', body)).status).toBe(201)
      const order = { account_id: 'noble@independent', type: 'credit', amount: '3', idempotency_key: 'one' }
      const bytes = p256.sign(Buffer.from(canonical(order)), secretKey, { format: 'der', lowS: false })
      const sent = await client.post('/v1/transactions', { ...order, signature: Buffer.from(bytes).toString('base64') })
      expect(sent.status).toBe(202)
      for (const { payload, signature } of statements) {
        const key = keyOf(keys, payload)
        const coordinates = ['x', 'y'].map((name) => Buffer.from(textOf(key, name), 'base64url'))
        const verifies = (text: string): boolean =>
          p256.verify(
            Buffer.from(signature, 'base64'),
            Buffer.from(text),
            Buffer.concat([Buffer.of(4), ...coordinates]),
            {
              format: 'der',
              lowS: false,
            },
          )
        expect(verifies(canonical(payload))).toBe(true)
        expect(verifies(canonical({ ...payload, key_id: 'another' }))).toBe(false)
      }
    })
  })
}

function keyOf(keys: ReadonlyMap<string, Members>, payload: Members): Members {
  const key = keys.get(textOf(payload, 'key_id'))
  if (key === undefined) throw new Error(`the JWKS has no key ${String(payload['key_id'])}`)
  return key
}

async function receiptOf(client: LedgerClient, txnId: string): Promise<Signed> {
  const read = await client.read(`/v1/transactions/${txnId}/receipt`)
  return { payload: read['receipt'] as Members, signature: textOf(read, 'signature') }
}

async function assertionOf(client: LedgerClient, kind: string): Promise<Signed> {
  const reply = await client.post(`/v1/assertions/${kind}`, { requester: 'independent' })
  if (reply.status !== 200) throw new Error(`${kind}: ${reply.status} ${reply.body}`)
  const assertion = membersOf(reply)
  return { payload: assertion['result'] as Members, signature: textOf(assertion, 'signature') }
}

/** An account whose holder has nothing but WebCrypto. */
async function subtleAccount(client: LedgerClient, accountId: string) {
  const pair = await webcrypto.subtle.generateKey(ECDSA, true, ['sign', 'verify'])
  const { kty, crv, x, y } = await webcrypto.subtle.exportKey('jwk', pair.publicKey)
  const jwk = { kty: String(kty), crv: String(crv), x: String(x), y: String(y) }
  const reply = await client.post('/v1/accounts', { account_id: accountId, public_key: jwk })
  if (reply.status !== 201) throw new Error(`registration of ${accountId}: ${reply.status} ${reply.body}`)
  return {
    submit: async (fields: Members) => {
      const body = { account_id: accountId, ...fields }
      const bytes = await webcrypto.subtle.sign(ECDSA, pair.privateKey, Buffer.from(canonical(body)))
      return client.post('/v1/transactions', { ...body, signature: Buffer.from(bytes).toString('base64url') })
    },
  }
}

/** DER to the 64 bytes r||s that WebCrypto takes: SEQUENCE of two INTEGERs, each without leading zeros but one. */
function rawOf(der: Buffer): Buffer {
  const integer = (at: number): Buffer => {
    const length = der[at + 1] ?? 0
    const digits = der.subarray(at + 2, at + 2 + length)
    const short = digits[0] === 0 ? digits.subarray(1) : digits
    return Buffer.concat([Buffer.alloc(32 - short.length), short])
  }
  return Buffer.concat([integer(2), integer(4 + (der[3] ?? 0))])
}
