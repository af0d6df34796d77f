/** Goal: what the document says of a body is what the ledger demands of it, field by field. */
import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import { TRANSACTION_TYPES } from '../../../actors/account/commands.ts'
import { DEFAULT_TIMEOUT_SECONDS, type TermsRule, readTerms } from '../../../actors/group/terms.ts'
import { createOpenApiDocument } from '../../../api/openapi/document.ts'
import { rotationSchema, statusSchema } from '../../../api/schemas/account.ts'
import { assertionRequestSchema } from '../../../api/schemas/assertion.ts'
import { attestationSchema } from '../../../api/schemas/attestation.ts'
import { tokenSchema } from '../../../api/schemas/fungible-token.ts'
import { classSchema } from '../../../api/schemas/nft-class.ts'
import { mintSchema } from '../../../api/schemas/nft-mint.ts'
import { revertSchema } from '../../../api/schemas/settlement-group.ts'
import { shardHealthSchema } from '../../../api/schemas/shard.ts'
import { receiveSchema, submissionErrors, submissionSchema } from '../../../api/schemas/submission.ts'
import { readTokenRequest, tokenRequestSchema } from '../../../api/schemas/token-request.ts'
import { DocumentedInterface } from '../../support/documented-interface.ts'

const DOCUMENT = createOpenApiDocument('https://ledger.example/errors')
const DESCRIBED = new DocumentedInterface(DOCUMENT)
const SCHEMAS = DOCUMENT.components.schemas

/** Fields of which JSON Schema cannot say all; of these the document may say less than the ledger demands. */
const COARSE = new Set([
  'metadata',
  'expires_at',
  'evidence_url',
  'subject_instance',
  // Many validators lack Unicode classes.
  'attester',
  'attestation_type',
])
/** Judged by what reads keys, whatever JSON it is. */
const JUDGED_ELSEWHERE = new Set(['public_key'])

const BODIES: readonly (readonly [string, v.ObjectSchema<v.ObjectEntries, undefined>])[] = (
  [
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

  const IN_ALL = BODIES.flatMap(([name, { entries }]) =>
    Object.entries(entries).flatMap(([field, entry]) =>
      JUDGED_ELSEWHERE.has(field) ? [] : [[name, field, entry] as const],
    ),
  )
  /** Each field in an order that has it; `type` selects the order. */
  const OF_ORDERS = Object.entries(submissionSchema.entries).flatMap(([field, entry]) => {
    const name = ['TokenExchange', 'NftTransfer'].find((one) =>
      Object.hasOwn((SCHEMAS[one]?.['properties'] ?? {}) as JsonObject, field),
    )
    return name === undefined || field === 'type' ? [] : [[name, field, entry] as const]
  })
  test('every field of an order is covered once', () => {
    expect(OF_ORDERS).toHaveLength(Object.keys(submissionSchema.entries).length - 1)
  })
  test.for([...IN_ALL, ...OF_ORDERS])('%s.%s accepts exactly the documented values', ([name, field, entry]) => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const [taken, described] = [v.is(entry, value), isDescribed(name, field, value)]
        expect(COARSE.has(field) ? described || !taken : taken === described).toBe(true)
      }),
      { numRuns: 400, examples: CLOSE.map((value) => [value]) },
    )
  })
})

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
        // Null counts as absent, and an absent field has a default.
        const { group_id: groupId, timeout_seconds: timeoutSeconds } = body
        const read = readTerms({
          ...body,
          group_id: groupId ?? BASE['group_id'] ?? null,
          timeout_seconds: timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
        })
        const described = DESCRIBED.faultsOfValue(['components', 'schemas', 'GroupRegistration'], body).length === 0
        const wrong = read.ok ? [] : read.error.filter(({ rule }) => !RELATIONS.has(rule))
        expect(described || !read.ok).toBe(true)
        expect(described && wrong.length > 0).toBe(false)
      }),
      { numRuns: 2_000 },
    )
  })
})
