import { describe, expect, test } from 'vitest'
import type { Answer } from '../../../actors/account/outcome.ts'
import { classAddress } from '../../../actors/address.ts'
import type { ClassView } from '../../../actors/nft-class/state.ts'
import { bodyOf, createEdgeFixture } from './edge-fixture.ts'

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
})
