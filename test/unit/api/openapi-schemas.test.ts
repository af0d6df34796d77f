/** Goal: what the document says of a body is what the ledger demands of it, field by field. */
import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import { type TermsRule, readTerms } from '../../../actors/group/terms.ts'
import { createOpenApiDocument } from '../../../api/openapi/document.ts'
import { rotationSchema, statusSchema } from '../../../api/schemas/account.ts'
import { assertionRequestSchema } from '../../../api/schemas/assertion.ts'
import { attestationSchema } from '../../../api/schemas/attestation.ts'
import { tokenSchema } from '../../../api/schemas/fungible-token.ts'
import { classSchema } from '../../../api/schemas/nft-class.ts'
import { mintSchema } from '../../../api/schemas/nft-mint.ts'
import { revertSchema } from '../../../api/schemas/settlement-group.ts'
import { shardHealthSchema } from '../../../api/schemas/shard.ts'
import { receiveSchema, submissionSchema } from '../../../api/schemas/submission.ts'
import { readTokenRequest, tokenRequestSchema } from '../../../api/schemas/token-request.ts'
import { DocumentedInterface } from '../../support/documented-interface.ts'

const DOCUMENT = createOpenApiDocument('https://ledger.example/errors')
const DESCRIBED = new DocumentedInterface(DOCUMENT)
const SCHEMAS = DOCUMENT.components.schemas

/** Fields of which JSON Schema cannot say all; of these the document may say less than the ledger demands. */
const COARSE = new Set(['metadata', 'expires_at', 'evidence_url', 'attestation_type', 'subject_instance'])
/** Judged by what reads keys, whatever JSON it is. */
const JUDGED_ELSEWHERE = new Set(['public_key'])

const BODIES: readonly (readonly [string, v.ObjectSchema<v.ObjectEntries, undefined>])[] = (
  [
    ['Submission', submissionSchema],
    ['ExchangeReturn', receiveSchema],
    ['KeyRotation', rotationSchema],
    ['StatusChange', statusSchema],
    ['TokenRegistration', tokenSchema],
    ['NftClassRegistration', classSchema],
    ['NftMint', mintSchema],
    ['GroupRevert', revertSchema],
    ['AttestationSubmission', attestationSchema],
    ['AssertionRequest', assertionRequestSchema],
    ['ShardHealth', shardHealthSchema],
  ] as const
).map(([name, schema]) => [name, schema as unknown as v.ObjectSchema<v.ObjectEntries, undefined>])

/** Values that come near what fields take. */
const NEAR: readonly Json[] = [
  '',
  '.',
  '..',
  'a',
  'alice@example',
  'a b',
  'a/b',
  'é',
  'EUR.x',
  '-',
  '\0',
  '\n',
  '\ud800',
  '0',
  '00',
  '0.0',
  '1',
  '01',
  '1.',
  '.5',
  '1e3',
  '-1',
  '0.000000000000000001',
  '9'.repeat(18),
  '9'.repeat(19),
  `1.${'0'.repeat(18)}`,
  `1.${'0'.repeat(19)}`,
  `0.${'0'.repeat(17)}1`,
  '2026-01-01T00:00:00Z',
  '2026-01-01',
  '3f2b8a52-0d5e-4a1e-9a0f-5f1f3d3c2b1a',
  '3F2B8A52-0D5E-4A1E-9A0F-5F1F3D3C2B1A',
  'txn_01K6ZZZZZZ0000000000000000',
  'txn_1',
  `sha256:${'ab'.repeat(32)}`,
  `sha256:${'AB'.repeat(32)}`,
  'debit',
  'credit',
  'withdraw',
  'active',
  'frozen',
  'accept',
  'healthy',
  'draining',
  'moving',
  -1,
  0,
  1,
  1.5,
  18,
  19,
  86_400,
  86_401,
  Number.MAX_SAFE_INTEGER,
  1e300,
  null,
  true,
  false,
  [],
  {},
  [''],
  { a: 1 },
  { x: 'y' },
  { amount: '1' },
  { amount: '0' },
  ['txn_01K6ZZZZZZ0000000000000000'],
  ['txn_01K6ZZZZZZ0000000000000000', 'txn_01K6ZZZZZZ0000000000000000'],
]
const LENGTHS = [64, 65, 128, 129, 255, 256, 257, 1024, 1025, 4096, 4097]
/** Each length is reached in characters of one and of two UTF-16 units. */
const LONG = LENGTHS.flatMap((length) => ['x'.repeat(length), '😀'.repeat(length)])
const TOO_MANY = Array.from({ length: 101 }, (_, index) => `txn_01K6ZZZZZZ${String(index).padStart(16, '0')}`)
const CLOSE: readonly Json[] = NEAR.concat(LONG, [TOO_MANY])

const anyValue = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...CLOSE) },
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.stringMatching(/^[A-Za-z0-9_.:@-]{1,130}$/),
  fc.stringMatching(/^[0-9]{1,20}(\.[0-9]{1,20})?$/),
  fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>,
)

function isDescribed(name: string, field: string, value: Json): boolean {
  return DESCRIBED.faultsOfValue(['components', 'schemas', name, 'properties', field], value).length === 0
}

describe('the document and the schemas that validate', () => {
  test.for(BODIES)('%s: the same fields, required and optional', ([name, schema]) => {
    const { properties, required } = SCHEMAS[name] ?? {}
    expect(Object.keys(properties as JsonObject)).toEqual(Object.keys(schema.entries))
    const needed = Object.entries(schema.entries).filter(([, entry]) => entry.type !== 'exact_optional')
    expect(required).toEqual(needed.map(([field]) => field))
  })

  const FIELDS = BODIES.flatMap(([name, { entries }]) =>
    Object.entries(entries).flatMap(([field, entry]) =>
      JUDGED_ELSEWHERE.has(field) ? [] : [[name, field, entry] as const],
    ),
  )
  test.for(FIELDS)('%s.%s takes what the document says, and nothing else', ([name, field, entry]) => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const [taken, described] = [v.is(entry, value), isDescribed(name, field, value)]
        expect(COARSE.has(field) ? described || !taken : taken === described).toBe(true)
      }),
      { numRuns: 400, examples: CLOSE.map((value) => [value]) },
    )
  })
})

describe('a request for a token', () => {
  const text = fc.oneof(fc.constantFrom<Json>('', 'x', 'refresh_token', 'client_credentials', 7, null), fc.string())
  const bodies = fc.record(
    { client_id: text, client_secret: text, grant_type: text, refresh_token: text, extra: text },
    { requiredKeys: [] },
  )

  test('D17: what is taken is what the document describes, and what its schema takes', () => {
    fc.assert(
      fc.property(bodies, (body: JsonObject) => {
        const taken = readTokenRequest(body).ok
        expect(DESCRIBED.faultsOfValue(['components', 'schemas', 'TokenRequest'], body).length === 0).toBe(taken)
        expect(v.is(tokenRequestSchema, body)).toBe(taken)
      }),
    )
  })
})

describe('the registration of a settlement group', () => {
  /** What fields demand of each other, which the document says in words. */
  const RELATIONS: ReadonlySet<TermsRule> = new Set([
    'net',
    'self_transfer',
    'asset',
    'class',
    'instance',
    'receiver',
    'boundary',
  ])
  const BASE: JsonObject = {
    group_id: '3f2b8a52-0d5e-4a1e-9a0f-5f1f3d3c2b1a',
    legs: [
      { account_id: 'alice', type: 'debit', amount: '5', token_id: 'EURX' },
      { account_id: 'bob', type: 'credit', amount: '5.0', token_id: 'EURX' },
    ],
    timeout_seconds: 600,
  }
  const [first, second] = BASE['legs'] as readonly [JsonObject, JsonObject]
  const legField = fc.constantFrom('account_id', 'type', 'amount', 'token_id', 'to_account_id', 'boundary', 'note')
  const bodies = fc.oneof(
    fc
      .tuple(fc.constantFrom('group_id', 'legs', 'timeout_seconds'), anyValue)
      .map(([field, value]) => ({ ...BASE, [field]: value })),
    fc.tuple(legField, anyValue).map(([field, value]) => ({ ...BASE, legs: [{ ...first, [field]: value }, second] })),
    fc
      .integer({ min: 0, max: 70 })
      .map((count) => ({ ...BASE, legs: Array.from({ length: count }, (_, at) => (at % 2 === 0 ? first : second)) })),
  )

  test('D10: what the home of the group demands of its fields is what the document describes', () => {
    fc.assert(
      fc.property(bodies, (body: JsonObject) => {
        const read = readTerms(body)
        const described = DESCRIBED.faultsOfValue(['components', 'schemas', 'GroupRegistration'], body).length === 0
        const wrong = read.ok ? [] : read.error.filter(({ rule }) => !RELATIONS.has(rule))
        expect(described || !read.ok).toBe(true)
        expect(described && wrong.length > 0).toBe(false)
      }),
      { numRuns: 2_000 },
    )
  })
})
