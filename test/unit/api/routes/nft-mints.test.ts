/** Goal: metadata is judged by the schema of its class where its issuer signed it, and told when the ledger asks for it. */
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

test('what the issuer signed is judged by the schema of the class', async () => {
  const edge = minting()
  expect((await mint(edge)).status).toBe(201)
  expect(edge.schemas.validated).toEqual([{ schema: SCHEMA, value: METADATA }])
  expect(verdictsOf(edge)).toEqual(['valid'])
})

test.for([
  ['by whom the class is not', true, KEY, 'another@bank'],
  ['that the key of the issuer did not sign', false, KEY, 'issuer@bank'],
  ['of an issuer without a key', true, null, 'issuer@bank'],
] as const)('a mint %s costs no judging: the ledger says what it is', async ([, signed, key, accountId]) => {
  const edge = minting(MINTED, signed)
  edge.reads.accountViews.set(accountId, accountView(accountId, { key }))
  await mint(edge, { ...BODY, account_id: accountId })
  expect(edge.schemas.validated).toEqual([])
  expect(verdictsOf(edge)).toEqual(['unchecked'])
})

test('what the ledger finds signed after all is judged, and asked again', async () => {
  const edge = minting({ kind: 'refused', code: 'metadata_unchecked', detail: 'No.', field: 'metadata' }, false)
  await mint(edge)
  expect(edge.schemas.validated).toHaveLength(1)
  expect(verdictsOf(edge)).toEqual(['unchecked', 'valid'])
})

test('D7: a repeat that differs is shown, and located, as what was minted then', async () => {
  const again = await mint(minting({ ...MINTED, ...TOLD }), { ...BODY, instance_id: 'opal' })
  expect(again.headers.get('location')).toBe(`${PATH}/ruby%3A1%40x`)
  expect(await bodyOf(again)).toMatchObject({ instance_id: 'ruby:1@x' })
})

test('the size of metadata is what its canonical form has, not what was sent', async () => {
  const { metadata: _, ...rest } = BODY
  const spaced = JSON.stringify(rest).replace(/}$/, `,"metadata":{${' '.repeat(80_000)}}}`)
  const escaped = JSON.stringify({ ...rest, metadata: { a: 'x'.repeat(65_528) } }).replaceAll('x', '\\u0078')
  for (const body of [spaced, escaped]) expect((await mint(minting(), body)).status).toBe(201)
})

test('D1: an ill-formed class ID in the path is 404; the ledger refuses an unknown class, in its order', async () => {
  const edge = minting({ kind: 'refused', code: 'signature_mismatch', detail: 'No.', field: 'signature' })
  for (const id of ['gems', CLASS_ID.toLowerCase(), 'cls_1']) {
    expect((await mint(edge, { ...BODY, class_id: id }, `/v1/nft-classes/${id}/instances`)).status).toBe(404)
  }
  expect(edge.gateway.asked).toEqual([])
  const response = await mint(edge, { ...BODY, class_id: OTHER_ID }, `/v1/nft-classes/${OTHER_ID}/instances`)
  expect(await refusalOf(response)).toMatchObject({ status: 403, codes: ['ERR_SIGNATURE_MISMATCH'] })
  expect([verdictsOf(edge), edge.schemas.validated]).toEqual([['unchecked'], []])
})

test('D11: metadata that violates the schema is refused with a path per error, once the ledger asks for it', async () => {
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

test('the schema is applied when the ledger asks for it, and not otherwise', async () => {
  const edge = minting({ kind: 'refused', code: 'not_issuer', detail: 'No.', field: null })
  edge.schemas.valueVerdict = { kind: 'invalid', errors: [{ path: 'a', message: 'b' }] }
  expect(await refusalOf(await mint(edge))).toEqual({ status: 403, codes: ['ERR_NOT_ISSUER'], fields: undefined })
})

test('D8: a mint is 503 `not_applied` while metadata cannot be validated: no node was asked', async () => {
  const edge = minting()
  edge.schemas.valueVerdict = { kind: 'overloaded' }
  const response = await mint(edge)
  expect(response.headers.get('retry-after')).toBe('1')
  expect(await bodyOf(response)).toMatchObject({ status: 503, error_codes: ['ERR_OVERLOADED'], outcome: 'not_applied' })
  expect(edge.gateway.asked).toEqual([])
})
