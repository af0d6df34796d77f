/** D14: the refusal of a signature has the data to tell a wrong key from a wrong canonical form, on every route. */
import { describe, expect, test } from 'vitest'
import type { RefusalCode } from '../../../../actors/refusal.ts'
import { bodyOf, createEdgeFixture, digestOf } from '../fakes/edge-fixture.ts'
import { SIGNATURE, SIGNED, WRITTEN } from './written-requests.ts'

const KEY_ID = 'DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0'
const { signature: _, ...ROTATION } = WRITTEN.rotateKey.body

function refusing(code: RefusalCode, field: string) {
  const edge = createEdgeFixture()
  edge.gateway.outcome = { kind: 'answered', answer: { kind: 'refused', code, detail: 'No.', field, keyId: KEY_ID } }
  return edge
}

describe.for(SIGNED)('a signature that does not match, sent to %s', ([id, body]) => {
  const { path } = WRITTEN[id]
  const [code, field] =
    body['issuer'] === undefined
      ? (['signature_mismatch', 'signature'] as const)
      : (['issuer_consent_missing', 'issuer'] as const)

  test('is refused with the key and the digest of the payload', async () => {
    const edge = refusing(code, field)
    const token = await edge.tokenFor('admin')
    const problem = await bodyOf(await edge.post(path, { ...body, signature: SIGNATURE }, token))
    expect(problem).toMatchObject({
      status: 403,
      error_codes: ['ERR_SIGNATURE_MISMATCH'],
      detail: 'No.',
      errors: [{ field, message: 'No.' }],
      key_id: KEY_ID,
      payload_digest: digestOf(body),
    })
  })

  test.for([
    ['no base64', 'garbage!'],
    ['hexadecimal', Buffer.alloc(64, 7).toString('hex')],
    ['of another length', 'AAAA'],
    ['too long to be sent to the shard owner', 'A'.repeat(5_000)],
  ] as const)('that is %s is reported as undecodable', async ([, signature]) => {
    const edge = refusing(code, field)
    const problem = await bodyOf(await edge.post(path, { ...body, signature }, await edge.tokenFor('admin')))
    expect(problem['detail']).toMatch(/^No\. It cannot be decoded as a signature/)
    expect(problem['payload_digest']).toBe(digestOf(body))
  })

  test('another refusal names neither key nor digest', async () => {
    const edge = refusing('account_not_found', 'account_id')
    const problem = await bodyOf(await edge.post(path, { ...body, signature: SIGNATURE }, await edge.tokenFor('admin')))
    expect(problem['status']).toBe(404)
    expect(problem).not.toHaveProperty('key_id')
    expect(problem).not.toHaveProperty('payload_digest')
  })
})

test('a mismatched proof of a rotation is refused with the new key, over the same payload', async () => {
  const edge = refusing('proof_mismatch', 'proof')
  const body = ROTATION
  const token = await edge.tokenFor('admin')
  const ask = async (proof: string) =>
    bodyOf(await edge.post('/v1/accounts/alice/keys', { ...body, signature: 'garbage', proof }, token))
  expect(await ask(SIGNATURE)).toMatchObject({ detail: 'No.', key_id: KEY_ID, payload_digest: digestOf(body) })
  expect((await ask('garbage'))['detail']).toMatch(/cannot be decoded/)
})

test('a missing signature is refused without advice on its encoding', async () => {
  const edge = refusing('issuer_consent_missing', 'issuer')
  const { body } = WRITTEN.createFungibleToken
  const problem = await bodyOf(await edge.post('/v1/fungible-tokens', body, await edge.tokenFor('transactor')))
  expect(problem).toMatchObject({ detail: 'No.', key_id: KEY_ID, payload_digest: digestOf(body) })
})
