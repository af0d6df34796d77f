/** The edge validates metadata against the schema of its class only after the issuer's signature verified. */
import { expect, test } from 'vitest'
import { accountView, answering, bodyOf, type EdgeFixture, refusalOf } from '../fakes/edge-fixture.ts'
import { METADATA } from './shown.ts'
import { CLASS_ID, WRITTEN } from './written-requests.ts'

const { path: PATH, answer: MINTED } = WRITTEN.mintNft
const OTHER_ID = 'cls_01K6ZZZZZZ0000000000000001'
const SCHEMA = { type: 'object' }
const BODY = { ...WRITTEN.mintNft.body, account_id: 'issuer@bank' }
const KEY = { keyId: 'key-1', publicKey: 'public-1' }
const TOLD = { replayed: true, mismatch: true } as const

/** An edge that knows the class and its issuer. `signed`: whether the issuer's key verifies. */
function minting(answer: Parameters<typeof answering>[0] = MINTED, signed = true): EdgeFixture {
  const verifyMany = (checks: readonly unknown[]) => Promise.resolve(checks.map(() => signed))
  const edge = answering(answer, { signatures: { verifyMany } })
  edge.reads.accountViews.set('issuer@bank', accountView('issuer@bank', { key: KEY }))
  const nftClass = { classId: CLASS_ID, name: 'Gems', description: '', issuer: 'issuer@bank', createdAtMs: 0 }
  edge.reads.classViews.set(CLASS_ID, { ...nftClass, metadataSchema: SCHEMA })
  return edge
}

async function mint(edge: EdgeFixture, body: object | string = BODY, path: string = PATH): Promise<Response> {
  return edge.post(path, body, await edge.tokenFor('transactor'))
}

function verdictsOf(edge: EdgeFixture): readonly unknown[] {
  return edge.gateway.asked.map(({ operation }) => operation.kind === 'mint' && operation.metadataVerdict)
}

test('metadata that the issuer signed is validated against the schema of the class', async () => {
  const edge = minting()
  expect((await mint(edge)).status).toBe(201)
  expect(edge.schemas.validated).toEqual([{ schema: SCHEMA, value: METADATA }])
  expect(verdictsOf(edge)).toEqual(['valid'])
})

test.for([
  ['by another account than the issuer', true, KEY, 'another@bank'],
  ['that the key of the issuer did not sign', false, KEY, 'issuer@bank'],
  ['of an issuer without a key', true, null, 'issuer@bank'],
] as const)('a mint %s is not validated and is left to the ledger', async ([, signed, key, accountId]) => {
  const edge = minting(MINTED, signed)
  edge.reads.accountViews.set(accountId, accountView(accountId, { key }))
  await mint(edge, { ...BODY, account_id: accountId })
  expect(edge.schemas.validated).toEqual([])
  expect(verdictsOf(edge)).toEqual(['unchecked'])
})

test('a mint whose signature the ledger accepts is validated, and sent again', async () => {
  const edge = minting({ kind: 'refused', code: 'metadata_unchecked', detail: 'No.', field: 'metadata' }, false)
  await mint(edge)
  expect(edge.schemas.validated).toHaveLength(1)
  expect(verdictsOf(edge)).toEqual(['unchecked', 'valid'])
})

test('D7: a replay with another body shows the original instance and its location', async () => {
  const again = await mint(minting({ ...MINTED, ...TOLD }), { ...BODY, instance_id: 'opal' })
  expect(again.headers.get('location')).toBe(`${PATH}/ruby%3A1%40x`)
  expect(await bodyOf(again)).toMatchObject({ instance_id: 'ruby:1@x' })
})

test('the size limit of metadata applies to its canonical form, not to the bytes sent', async () => {
  const { metadata: _, ...rest } = BODY
  const spaced = JSON.stringify(rest).replace(/}$/, `,"metadata":{${' '.repeat(80_000)}}}`)
  const escaped = JSON.stringify({ ...rest, metadata: { a: 'x'.repeat(65_528) } }).replaceAll('x', '\\u0078')
  for (const body of [spaced, escaped]) expect((await mint(minting(), body)).status).toBe(201)
})

test('D1: a malformed class ID in the path is 404; the ledger decides about an unknown class', async () => {
  const edge = minting({ kind: 'refused', code: 'signature_mismatch', detail: 'No.', field: 'signature' })
  for (const id of ['gems', CLASS_ID.toLowerCase(), 'cls_1']) {
    expect((await mint(edge, { ...BODY, class_id: id }, `/v1/nft-classes/${id}/instances`)).status).toBe(404)
  }
  expect(edge.gateway.asked).toEqual([])
  const response = await mint(edge, { ...BODY, class_id: OTHER_ID }, `/v1/nft-classes/${OTHER_ID}/instances`)
  expect(await refusalOf(response)).toMatchObject({ status: 403, codes: ['ERR_SIGNATURE_MISMATCH'] })
  expect([verdictsOf(edge), edge.schemas.validated]).toEqual([['unchecked'], []])
})

test('D11: metadata that violates the schema is refused with a path per error, if the ledger reports it', async () => {
  const edge = minting({ kind: 'refused', code: 'metadata_invalid', detail: 'No.', field: 'metadata' })
  const paths = ['color', 'parts[0].weight', '[0]', '']
  const errors = paths.map((path) => ({ path, message: `wrong at ${path}` }))
  edge.schemas.valueVerdict = { kind: 'invalid', errors }
  const fields = ['metadata.color', 'metadata.parts[0].weight', 'metadata[0]', 'metadata']
  expect(await bodyOf(await mint(edge))).toMatchObject({
    status: 400,
    type: 'https://ledger.example/errors/validation-error',
    error_codes: ['ERR_INVALID_FIELD'],
    errors: fields.map((field, index) => ({ field, message: errors[index]?.message })),
  })
  expect(verdictsOf(edge)).toEqual(['invalid'])
})

test('another refusal of the ledger hides the violations of the schema', async () => {
  const edge = minting({ kind: 'refused', code: 'not_issuer', detail: 'No.', field: null })
  edge.schemas.valueVerdict = { kind: 'invalid', errors: [{ path: 'a', message: 'b' }] }
  expect(await refusalOf(await mint(edge))).toEqual({ status: 403, codes: ['ERR_NOT_ISSUER'], fields: undefined })
})

test('D8: a mint is 503 `not_applied` while metadata cannot be validated', async () => {
  const edge = minting()
  edge.schemas.valueVerdict = { kind: 'overloaded' }
  const response = await mint(edge)
  expect(response.headers.get('retry-after')).toBe('1')
  expect(await bodyOf(response)).toMatchObject({ status: 503, error_codes: ['ERR_OVERLOADED'], outcome: 'not_applied' })
  expect(edge.gateway.asked).toEqual([])
})
