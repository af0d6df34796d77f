import { describe, expect, test } from 'vitest'
import type { Answer } from '../../../actors/account/outcome.ts'
import { accountAddress } from '../../../actors/address.ts'
import { accountView, bodyOf, createEdgeFixture, refusalOf } from './edge-fixture.ts'

const CLASS_ID = 'cls_01K6ZZZZZZ0000000000000000'
const OTHER_ID = 'cls_01K6ZZZZZZ0000000000000001'
const PATH = `/v1/nft-classes/${CLASS_ID}/instances`
const SCHEMA = { type: 'object' }
const METADATA = { weight: 1.5, colour: 'red' }
const BODY = {
  signature: 'c2ln',
  class_id: CLASS_ID,
  metadata: METADATA,
  instance_id: 'ruby:1@x',
  account_id: 'issuer@bank',
  idempotency_key: 'once',
}
const PAYLOAD =
  `{"account_id":"issuer@bank","class_id":"${CLASS_ID}","idempotency_key":"once","instance_id":"ruby:1@x",` +
  '"metadata":{"colour":"red","weight":1.5}}'
const SHOWN = {
  class_id: CLASS_ID,
  instance_id: 'ruby:1@x',
  owner: 'issuer@bank',
  status: 'active',
  metadata: METADATA,
  minted_at: '2025-10-09T08:53:20.000Z',
}
const MINTED = {
  kind: 'minted',
  txnId: 'txn_01K6ZZZZZZ0000000000000000',
  payloadHash: 'ab'.repeat(32),
  replayed: false,
  mismatch: false,
  instance: {
    classId: CLASS_ID,
    instanceId: 'ruby:1@x',
    owner: 'issuer@bank',
    status: 'active',
    metadata: METADATA,
    mintedAtMs: 1_760_000_000_000,
  },
} as const

/** An edge that knows the class and its issuer. `signed`: whether the issuer's key verifies. */
function answering(answer: Answer = MINTED, signed = true) {
  const verifyMany = (checks: readonly unknown[]) => Promise.resolve(checks.map(() => signed))
  const edge = createEdgeFixture({ signatures: { verifyMany } })
  const key = { keyId: 'key-1', publicKey: 'public-1' }
  edge.reads.accountViews.set('issuer@bank', accountView('issuer@bank', { key }))
  edge.gateway.outcome = { kind: 'answered', answer }
  edge.reads.classViews.set(CLASS_ID, {
    classId: CLASS_ID,
    name: 'Gems',
    description: '',
    issuer: 'issuer@bank',
    metadataSchema: SCHEMA,
    createdAtMs: 1_760_000_000_000,
  })
  return edge
}

/** An object of exactly so many bytes as canonical JSON. */
function metadataOf(bytes: number, filler = 'x') {
  const around = Buffer.byteLength(JSON.stringify({ a: '' }))
  return { a: filler.repeat((bytes - around) / Buffer.byteLength(filler)) }
}

describe('POST /v1/nft-classes/{classId}/instances', () => {
  const verdictsOf = (edge: ReturnType<typeof answering>) =>
    edge.gateway.asked.map(({ operation }) => operation.kind === 'mint' && operation.metadataVerdict)

  test.for([
    ['by whom the class is not', true, true, 'another@bank'],
    ['that the key of the issuer did not sign', false, true, 'issuer@bank'],
    ['of an issuer without a key', true, false, 'issuer@bank'],
  ] as const)('a mint %s costs no judging: the ledger says what it is', async ([, signed, keyed, accountId]) => {
    const edge = answering(MINTED, signed)
    const key = keyed ? { keyId: 'key-1', publicKey: 'public-1' } : null
    edge.reads.accountViews.set(accountId, accountView(accountId, { key }))
    await edge.post(PATH, { ...BODY, account_id: accountId }, await edge.tokenFor('transactor'))
    expect(edge.schemas.validated).toEqual([])
    expect(verdictsOf(edge)).toEqual(['unchecked'])
  })

  test('what the ledger finds signed after all is judged, and asked again', async () => {
    const edge = answering({ kind: 'refused', code: 'metadata_unchecked', detail: 'No.', field: 'metadata' }, false)
    await edge.post(PATH, BODY, await edge.tokenFor('transactor'))
    expect(edge.schemas.validated).toHaveLength(1)
    expect(verdictsOf(edge)).toEqual(['unchecked', 'valid'])
  })

  test('D6: a mint is 201, and what is asked of the account is exactly what it signed', async () => {
    const edge = answering()
    const created = await edge.post(PATH, BODY, await edge.tokenFor('transactor'))
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe(`/v1/nft-classes/${CLASS_ID}/instances/ruby%3A1%40x`)
    for (const name of ['idempotency-replayed', 'idempotency-payload-mismatch']) {
      expect(created.headers.get(name)).toBeNull()
    }
    expect(await bodyOf(created)).toEqual(SHOWN)
    expect(edge.schemas.validated).toEqual([{ schema: SCHEMA, value: METADATA }])
    expect(edge.gateway.asked).toEqual([
      {
        actor: accountAddress('issuer@bank'),
        caller: { clientId: 'client-transactor', role: 'transactor', boundary: true },
        operation: { kind: 'mint', payload: PAYLOAD, signature: 'c2ln', metadataVerdict: 'valid' },
      },
    ])
  })

  test('D7: a repeat that differs is shown, and located, as what was minted then', async () => {
    const edge = answering({ ...MINTED, replayed: true, mismatch: true })
    const body = { ...BODY, instance_id: 'opal' }
    const again = await edge.post(PATH, body, await edge.tokenFor('transactor'))
    expect(again.headers.get('location')).toBe(`/v1/nft-classes/${CLASS_ID}/instances/ruby%3A1%40x`)
    expect(await bodyOf(again)).toMatchObject({ instance_id: 'ruby:1@x' })
  })

  test('the size of metadata is what its canonical form has, not what was sent', async () => {
    const edge = answering()
    const token = await edge.tokenFor('transactor')
    const { metadata: _, ...rest } = BODY
    const spaced = JSON.stringify(rest).replace(/}$/, `,"metadata":{${' '.repeat(80_000)}}}`)
    expect((await edge.post(PATH, spaced, token)).status).toBe(201)
    const escaped = JSON.stringify({ ...rest, metadata: metadataOf(65_536) }).replaceAll('x', '\\u0078')
    expect((await edge.post(PATH, escaped, token)).status).toBe(201)
  })

  test('D1: what can be no class is 404 in the path; one that nobody knows is the ledger’s to say, in its order', async () => {
    const edge = answering({ kind: 'refused', code: 'signature_mismatch', detail: 'No.', field: 'signature' })
    const token = await edge.tokenFor('transactor')
    for (const classId of ['gems', CLASS_ID.toLowerCase(), 'cls_1']) {
      const path = `/v1/nft-classes/${classId}/instances`
      expect((await edge.post(path, { ...BODY, class_id: classId }, token)).status).toBe(404)
    }
    expect(edge.gateway.asked).toEqual([])
    const path = `/v1/nft-classes/${OTHER_ID}/instances`
    const response = await edge.post(path, { ...BODY, class_id: OTHER_ID }, token)
    expect(await refusalOf(response)).toMatchObject({ status: 403, codes: ['ERR_SIGNATURE_MISMATCH'] })
    expect(edge.gateway.asked[0]?.operation).toMatchObject({ metadataVerdict: 'unchecked' })
    expect(edge.schemas.validated).toEqual([])
  })

  test('D11: metadata that does not fit is told with a path per error, once the ledger says that it is time', async () => {
    const edge = answering({ kind: 'refused', code: 'metadata_invalid', detail: 'No.', field: 'metadata' })
    const errors = [
      { path: 'colour', message: 'must be a string' },
      { path: 'parts[0].weight', message: 'must be at least 0' },
      { path: '[0]', message: 'is one too many' },
      { path: '', message: 'must have required property "name"' },
    ]
    edge.schemas.valueVerdict = { kind: 'invalid', errors }
    const response = await edge.post(PATH, BODY, await edge.tokenFor('transactor'))
    expect(await bodyOf(response)).toMatchObject({
      status: 400,
      type: expect.stringMatching(/\/validation-error$/) as string,
      error_codes: ['ERR_INVALID_FIELD'],
      errors: [
        { field: 'metadata.colour', message: 'must be a string' },
        { field: 'metadata.parts[0].weight', message: 'must be at least 0' },
        { field: 'metadata[0]', message: 'is one too many' },
        { field: 'metadata', message: 'must have required property "name"' },
      ],
    })
    expect(edge.gateway.asked[0]?.operation).toMatchObject({ metadataVerdict: 'invalid' })
  })

  test('what a schema says is told when the ledger asks for it, and not otherwise', async () => {
    const edge = answering({ kind: 'refused', code: 'not_issuer', detail: 'No.', field: null })
    edge.schemas.valueVerdict = { kind: 'invalid', errors: [{ path: 'a', message: 'b' }] }
    const response = await edge.post(PATH, BODY, await edge.tokenFor('transactor'))
    expect(await refusalOf(response)).toEqual({ status: 403, codes: ['ERR_NOT_ISSUER'], fields: undefined })
  })

  test('D8: where no metadata can be judged for now it is 503 `not_applied`: nothing was asked', async () => {
    const edge = answering()
    edge.schemas.valueVerdict = { kind: 'overloaded' }
    const response = await edge.post(PATH, BODY, await edge.tokenFor('transactor'))
    expect(response.headers.get('retry-after')).toBe('1')
    expect(await bodyOf(response)).toMatchObject({
      status: 503,
      error_codes: ['ERR_OVERLOADED'],
      outcome: 'not_applied',
    })
    expect(edge.gateway.asked).toEqual([])
  })
})
