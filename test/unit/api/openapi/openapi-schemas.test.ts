/** The OpenAPI document accepts exactly the bodies that the edge accepts. */
import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../../actors/canonical-json.ts'
import { TRANSACTION_TYPES } from '../../../../actors/account/commands.ts'
import { createOpenApiDocument } from '../../../../api/openapi/document.ts'
import { submissionErrors } from '../../../../api/schemas/requests/submission.ts'
import { ASSERTION_TYPE } from '../../../../api/auth/client-assertions.ts'
import { readTokenRequest, tokenRequestSchema } from '../../../../api/schemas/requests/token-request.ts'
import { DocumentedInterface } from '../../../support/documented-interface.ts'

const DOCUMENT = createOpenApiDocument('https://ledger.example/errors')
const DESCRIBED = new DocumentedInterface(DOCUMENT)
const SCHEMAS = DOCUMENT.components.schemas

describe('an order', () => {
  const maybe = (...values: readonly Json[]) => fc.constantFrom<Json | undefined>(undefined, undefined, ...values)
  const orders = fc.record({
    type: fc.constantFrom<Json>('credit', 'debit', 'transfer', 'exchange', 'mint', 'burn', 'withdraw'),
    amount: fc.constantFrom('1', '1', '2.5'),
    token_id: maybe('EURX', 'EURX', 'no token'),
    group_id: maybe('3f2b8a52-0d5e-4a1e-9a0f-5f1f3d3c2b1a'),
    to_account_id: maybe('bob', 'bob', 'no account'),
    receive: maybe({ amount: '2', token_id: 'USDX' }),
    class_id: maybe('cls_01K6ZZZZZZ0000000000000000'),
    instance_id: maybe('ring:1'),
    terms_hash: maybe(`sha256:${'ab'.repeat(32)}`),
    metadata: maybe({ a: 'b' }),
    amuont: maybe('1'),
  })
  const needed = { account_id: 'alice', idempotency_key: 'k', signature: 'c2ln' }

  test('an accepted body matches exactly one documented order', () => {
    const seen = new Map<boolean, number>()
    fc.assert(
      fc.property(orders, (fields) => {
        const present = Object.entries(fields).filter(([, value]) => value !== undefined)
        const body = { ...needed, ...(Object.fromEntries(present) as JsonObject) }
        const taken = submissionErrors(body).length === 0
        seen.set(taken, (seen.get(taken) ?? 0) + 1)
        expect(DESCRIBED.faultsOfValue(['components', 'schemas', 'Submission'], body).length === 0).toBe(taken)
      }),
      { numRuns: 5_000 },
    )
    expect(Math.min(seen.get(true) ?? 0, seen.get(false) ?? 0)).toBeGreaterThan(50)
  })

  test('each type has its own schema, which the discriminator selects', () => {
    const { oneOf, discriminator } = SCHEMAS['Submission'] ?? {}
    const { mapping, propertyName } = discriminator as { mapping: JsonObject; propertyName: string }
    expect([propertyName, Object.keys(mapping).toSorted()]).toEqual(['type', TRANSACTION_TYPES.toSorted()])
    expect(oneOf).toEqual(Object.values(mapping).map((reference) => ({ $ref: reference })))
  })
})

describe('a request for a token', () => {
  const text = fc.oneof(fc.constantFrom<Json>('', 'x', 'refresh_token', 'client_credentials', 7, null), fc.string())
  const bodies = fc.record(
    {
      client_id: text,
      client_secret: text,
      client_assertion: text,
      client_assertion_type: fc.oneof(fc.constant(ASSERTION_TYPE), text),
      grant_type: text,
      refresh_token: text,
    },
    { requiredKeys: [] },
  )

  test('D17: the edge, the document and the schema accept the same token requests', () => {
    fc.assert(
      fc.property(bodies, (body: JsonObject) => {
        const taken = readTokenRequest(body).ok
        expect(DESCRIBED.faultsOfValue(['components', 'schemas', 'TokenRequest'], body).length === 0).toBe(taken)
        expect(v.is(tokenRequestSchema, body)).toBe(taken)
      }),
    )
  })
})
