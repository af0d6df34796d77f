import { describe, expect, test } from 'vitest'
import type { Answer } from '../../../actors/account/outcome.ts'
import { classAddress } from '../../../actors/address.ts'
import type { ClassView } from '../../../actors/nft-class/state.ts'
import { bodyOf, createEdgeFixture, refusalOf } from './edge-fixture.ts'

const PATH = '/v1/nft-classes'
const SCHEMA = { type: 'object', required: ['colour'], properties: { colour: { type: 'string' } } }
const BODY = { name: 'Gems', issuer: 'issuer@bank', metadata_schema: SCHEMA, description: 'Stones of value' }
const PAYLOAD =
  '{"description":"Stones of value","issuer":"issuer@bank","metadata_schema":' +
  '{"properties":{"colour":{"type":"string"}},"required":["colour"],"type":"object"},"name":"Gems"}'
const CLASS_ID = 'cls_01K6ZZZZZZ0000000000000000'
const CLASS: ClassView = {
  classId: CLASS_ID,
  name: 'Gems',
  description: 'Stones of value',
  issuer: 'issuer@bank',
  metadataSchema: SCHEMA,
  createdAtMs: 1_760_000_000_000,
}
const SHOWN = {
  class_id: CLASS_ID,
  name: 'Gems',
  description: 'Stones of value',
  issuer: 'issuer@bank',
  metadata_schema: SCHEMA,
  created_at: '2025-10-09T08:53:20.000Z',
}
const REGISTERED = { kind: 'class_registered', nftClass: CLASS, replayed: false, mismatch: false } as const

function answering(answer: Answer = REGISTERED) {
  const edge = createEdgeFixture()
  edge.gateway.outcome = { kind: 'answered', answer }
  return edge
}

describe('POST /v1/nft-classes', () => {
  test('a new class is 201, and is asked of the home of its folded name', async () => {
    const edge = answering()
    const created = await edge.post(PATH, BODY, await edge.tokenFor('transactor'), { 'idempotency-key': 'once' })
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe(`/v1/nft-classes/${CLASS_ID}`)
    expect(created.headers.get('idempotency-replayed')).toBeNull()
    expect(await bodyOf(created)).toEqual(SHOWN)
    expect(edge.schemas.checked).toEqual([SCHEMA])
    expect(edge.gateway.asked).toEqual([
      {
        actor: classAddress('GEMS'),
        caller: { clientId: 'client-transactor', role: 'transactor', boundary: true },
        operation: { kind: 'register_class', payload: PAYLOAD, signature: null, registrationKey: 'once' },
      },
    ])
  })

  test.for([
    [{ replayed: true, mismatch: false }, 'true', null],
    [{ replayed: true, mismatch: true }, 'true', 'true'],
  ] as const)('D7: a repeat gives the original answer and says so: %j', async ([told, replayed, mismatch]) => {
    const edge = answering({ ...REGISTERED, ...told })
    const again = await edge.post(PATH, BODY, await edge.tokenFor('admin'))
    expect(again.status).toBe(201)
    expect(again.headers.get('idempotency-replayed')).toBe(replayed)
    expect(again.headers.get('idempotency-payload-mismatch')).toBe(mismatch)
    expect(again.headers.get('location')).toBe(`/v1/nft-classes/${CLASS_ID}`)
    expect(await bodyOf(again)).toEqual(SHOWN)
    expect(edge.gateway.asked[0]?.operation).toMatchObject({ registrationKey: null })
  })

  test('D6: the issuer signs the canonical body without the signature', async () => {
    const edge = answering()
    const token = await edge.tokenFor('transactor')
    await edge.post(PATH, { signature: 'c2ln', ...BODY }, token)
    await edge.post(PATH, { ...BODY, signature: 'A'.repeat(1025) }, token)
    expect(edge.gateway.asked.map(({ operation }) => operation)).toMatchObject([
      { payload: PAYLOAD, signature: 'c2ln' },
      { payload: PAYLOAD, signature: '-' },
    ])
  })

  test('D5: unknown fields are ignored without a signature, and are no part of it; with one they are refused', async () => {
    const edge = answering()
    const token = await edge.tokenFor('transactor')
    const body = { ...BODY, note: 'x', symbol: 'GEM' }
    expect((await edge.post(PATH, body, token)).status).toBe(201)
    expect(edge.gateway.asked[0]?.operation).toMatchObject({ payload: PAYLOAD })
    expect(await refusalOf(await edge.post(PATH, { ...body, signature: 'c2ln' }, token))).toEqual({
      status: 400,
      codes: ['ERR_UNKNOWN_FIELD'],
      fields: ['note', 'symbol'],
    })
    expect(edge.gateway.asked).toHaveLength(1)
  })

  test('all that is wrong is told at once, and no schema is looked at then', async () => {
    const edge = answering()
    const token = await edge.tokenFor('transactor')
    const body = { name: '', description: 5, issuer: '..', metadata_schema: [], signature: '' }
    expect(await refusalOf(await edge.post(PATH, body, token, { 'idempotency-key': 'x'.repeat(256) }))).toEqual({
      status: 400,
      codes: [
        'ERR_INVALID_IDEMPOTENCY_KEY',
        'ERR_INVALID_NAME',
        'ERR_INVALID_FIELD',
        'ERR_INVALID_ISSUER',
        'ERR_INVALID_SCHEMA',
        'ERR_INVALID_SIGNATURE',
      ],
      fields: ['Idempotency-Key', 'name', 'description', 'issuer', 'metadata_schema', 'signature'],
    })
    expect(await refusalOf(await edge.post(PATH, {}, token))).toEqual({
      status: 400,
      codes: ['ERR_INVALID_NAME', 'ERR_INVALID_FIELD', 'ERR_INVALID_ISSUER', 'ERR_INVALID_SCHEMA'],
      fields: ['name', 'description', 'issuer', 'metadata_schema'],
    })
    expect([edge.gateway.asked, edge.schemas.checked]).toEqual([[], []])
  })

  test.for([
    [{ name: '' }, 'name', 'ERR_INVALID_NAME'],
    [{ name: null }, 'name', 'ERR_INVALID_NAME'],
    [{ name: 7 }, 'name', 'ERR_INVALID_NAME'],
    [{ name: 'x'.repeat(257) }, 'name', 'ERR_INVALID_NAME'],
    [{ name: '\u{1f48e}'.repeat(257) }, 'name', 'ERR_INVALID_NAME'],
    [{ description: null }, 'description', 'ERR_INVALID_FIELD'],
    [{ description: 'x'.repeat(4097) }, 'description', 'ERR_INVALID_FIELD'],
    [{ description: '\u{1f48e}'.repeat(4097) }, 'description', 'ERR_INVALID_FIELD'],
    [{ issuer: 'a b' }, 'issuer', 'ERR_INVALID_ISSUER'],
    [{ issuer: '.' }, 'issuer', 'ERR_INVALID_ISSUER'],
    [{ issuer: '' }, 'issuer', 'ERR_INVALID_ISSUER'],
    [{ issuer: 'x'.repeat(129) }, 'issuer', 'ERR_INVALID_ISSUER'],
    [{ metadata_schema: null }, 'metadata_schema', 'ERR_INVALID_SCHEMA'],
    [{ metadata_schema: true }, 'metadata_schema', 'ERR_INVALID_SCHEMA'],
    [{ metadata_schema: '{}' }, 'metadata_schema', 'ERR_INVALID_SCHEMA'],
    [{ metadata_schema: [{}] }, 'metadata_schema', 'ERR_INVALID_SCHEMA'],
    [{ signature: '' }, 'signature', 'ERR_INVALID_SIGNATURE'],
    [{ signature: 5 }, 'signature', 'ERR_INVALID_SIGNATURE'],
  ] as const)('%j is 400', async ([change, field, code]) => {
    const edge = answering()
    const response = await edge.post(PATH, { ...BODY, ...change }, await edge.tokenFor('transactor'))
    expect(await refusalOf(response)).toEqual({ status: 400, codes: [code], fields: [field] })
    expect(edge.gateway.asked).toEqual([])
  })

  test.for(['name', 'description', 'issuer', 'metadata_schema'])('%s is required', async (field) => {
    const edge = answering()
    const body = Object.fromEntries(Object.entries(BODY).filter(([name]) => name !== field))
    const response = await edge.post(PATH, body, await edge.tokenFor('transactor'))
    expect(await refusalOf(response)).toMatchObject({ status: 400, fields: [field] })
  })

  test.for([
    { name: 'x' },
    { name: 'x'.repeat(256) },
    // Lengths count code points.
    { name: '\u{1f48e}'.repeat(256) },
    { name: 'e\u0301'.repeat(128) },
    { name: ' ' },
    { description: '' },
    { description: 'x'.repeat(4096) },
    { description: '\u{1f48e}'.repeat(4096) },
    { issuer: 'x'.repeat(128) },
    { issuer: 'a' },
    { metadata_schema: {} },
  ])('%j goes to the ledger', async (change) => {
    const edge = answering()
    expect((await edge.post(PATH, { ...BODY, ...change }, await edge.tokenFor('admin'))).status).toBe(201)
    expect(edge.gateway.asked).toHaveLength(1)
  })

  test('D11: a schema that cannot be held to is 400, with the reason; the ledger is not asked', async () => {
    const edge = answering()
    edge.schemas.schemaVerdict = { kind: 'invalid', reason: 'It refers to another document.' }
    const response = await edge.post(PATH, BODY, await edge.tokenFor('transactor'))
    const problem = await bodyOf(response)
    expect(problem).toMatchObject({
      status: 400,
      type: expect.stringMatching(/\/validation-error$/) as string,
      error_codes: ['ERR_INVALID_SCHEMA'],
      errors: [{ field: 'metadata_schema', message: 'It refers to another document.' }],
    })
    expect(edge.gateway.asked).toEqual([])
  })

  test('D8: where no schema can be judged for now it is 503 `not_applied`: nothing was asked', async () => {
    const edge = answering()
    edge.schemas.schemaVerdict = { kind: 'overloaded' }
    const response = await edge.post(PATH, BODY, await edge.tokenFor('transactor'))
    expect(response.headers.get('retry-after')).toBe('1')
    expect(await bodyOf(response)).toMatchObject({
      status: 503,
      error_codes: ['ERR_OVERLOADED'],
      outcome: 'not_applied',
    })
    expect(edge.gateway.asked).toEqual([])
  })

  test.for([
    ['class_exists', 409, 'ERR_CONFLICT'],
    ['account_closed', 409, 'ERR_CONFLICT'],
    ['issuer_consent_missing', 403, 'ERR_SIGNATURE_MISMATCH'],
    ['cannot_be_stored', 400, 'ERR_INVALID_FIELD'],
  ] as const)('a refusal with %s is %i', async ([code, status, errorCode]) => {
    const edge = answering({ kind: 'refused', code, detail: 'No.', field: 'name' })
    const response = await edge.post(PATH, BODY, await edge.tokenFor('transactor'))
    expect(await refusalOf(response)).toEqual({ status, codes: [errorCode], fields: ['name'] })
  })

  test('D8: a shard that is away, or an answer to another question, is 503 with the outcome', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('transactor')
    expect(await bodyOf(await edge.post(PATH, BODY, token))).toMatchObject({ status: 503, outcome: 'not_applied' })
    edge.gateway.outcome = { kind: 'answered', answer: { kind: 'status_changed', account: {} as never } }
    expect(await bodyOf(await edge.post(PATH, BODY, token))).toMatchObject({ status: 503, outcome: 'unknown' })
    edge.gateway.outcome = new Error('away')
    expect(await bodyOf(await edge.post(PATH, BODY, token))).toMatchObject({ status: 503, outcome: 'unknown' })
  })

  test('D7: token, role, content type and text are judged before the shape', async () => {
    const edge = answering()
    const text = { 'content-type': 'text/plain' }
    expect((await edge.post(PATH, '{', undefined, text)).status).toBe(401)
    expect((await edge.post(PATH, '{', await edge.tokenFor('viewer'), text)).status).toBe(403)
    expect((await edge.post(PATH, '{', await edge.tokenFor('transactor'), text)).status).toBe(415)
    expect((await edge.post(PATH, '{', await edge.tokenFor('transactor'))).status).toBe(400)
    expect((await edge.post(PATH, '[]', await edge.tokenFor('transactor'))).status).toBe(400)
    expect(edge.schemas.checked).toEqual([])
  })
})
