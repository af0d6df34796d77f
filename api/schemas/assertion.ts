/** The shapes of what is asked of assertions, and of what they say (D12). */
import * as v from 'valibot'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import { parseTimestamp } from '../../actors/timestamp.ts'
import type { Invalid } from '../http/problem.ts'
import { codePoints } from './fields.ts'
import { schemaErrors } from '../http/invalid.ts'
import { isObject } from './nft-class.ts'
import { define } from './named-schema.ts'

export const ASSERTION_TYPES = ['proof-of-liabilities', 'proof-of-provenance', 'proof-of-compliance'] as const
export type AssertionType = (typeof ASSERTION_TYPES)[number]

const MAX_REQUESTER_LENGTH = 256
const REQUESTER_RULE = 'must be 1 to 256 characters'
const TEXT_RULE = 'must be a string'
const RESULT_RULE = 'must be an object'

export const assertionRequestSchema = define('AssertionRequest', 'The requester.', {
  requester: [
    v.pipe(
      v.string(REQUESTER_RULE),
      v.check((text) => text !== '' && codePoints(text) <= MAX_REQUESTER_LENGTH, REQUESTER_RULE),
      v.metadata({ minLength: 1, maxLength: MAX_REQUESTER_LENGTH }),
    ),
    'The identifier of who asks; it is signed.',
  ],
})

/** The result decides whether the assertion is valid, not whether the request is well formed. */
export const assertionCheckSchema = define(
  'AssertionCheck',
  'An assertion as it was received. Other fields are ignored.',
  {
    assertion_type: [v.string(TEXT_RULE), 'The type of the assertion.'],
    // An object schema would take a list.
    result: [
      v.pipe(v.custom<JsonObject>(isObject, RESULT_RULE), v.metadata({ type: 'object', additionalProperties: true })),
      'The findings, unchanged.',
    ],
    signature: [v.string(TEXT_RULE), 'The service’s, over the canonical JSON (RFC 8785) of `result`.'],
  },
)

/** The requester. */
export function readAssertionRequest(body: JsonObject): Result<string, readonly Invalid[]> {
  const invalid = schemaErrors(assertionRequestSchema, body)
  return invalid.length > 0 ? refuse(invalid) : ok((body as v.InferOutput<typeof assertionRequestSchema>).requester)
}

/** An assertion to verify. */
export interface GivenAssertion {
  readonly assertionType: string
  /** As it came: its members in whatever order. */
  readonly result: JsonObject
  readonly signature: string
}

export function readAssertionCheck(body: JsonObject): Result<GivenAssertion, readonly Invalid[]> {
  const invalid = schemaErrors(assertionCheckSchema, body)
  if (invalid.length > 0) return refuse(invalid)
  const { assertion_type: assertionType, result, signature } = body as v.InferOutput<typeof assertionCheckSchema>
  return ok({ assertionType, result, signature })
}

const timestamp = v.pipe(
  v.string(),
  v.check((text) => parseTimestamp(text) !== undefined),
)
const total = v.pipe(v.string(), v.regex(/^(0|[1-9][0-9]*)(\.[0-9]{1,18})?$/))
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

/** Members of every result. */
const commonEntries = {
  assertion_type: v.string(),
  requester: v.string(),
  ledger_id: v.string(),
  key_id: v.string(),
  generated_at: timestamp,
}

/** The members that a result of each type must have. Others may be added within the version of the interface. */
export const RESULT_SCHEMAS = {
  'proof-of-liabilities': v.looseObject({
    total_liabilities: total,
    merkle_root: v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/)),
    by_token: v.array(v.looseObject({ token_id: v.string(), total })),
    as_of: timestamp,
    ...commonEntries,
  }),
  'proof-of-provenance': v.looseObject({
    assets_verified: count,
    provenance_valid: v.boolean(),
    as_of: timestamp,
    last_full_pass_at: v.nullable(timestamp),
    ...commonEntries,
  }),
  'proof-of-compliance': v.looseObject({
    compliant: v.boolean(),
    frameworks: v.array(v.string()),
    controls: v.array(v.looseObject({ name: v.string(), passed: v.boolean(), checked: count, failed: count })),
    as_of: timestamp,
    last_full_pass_at: v.nullable(timestamp),
    ...commonEntries,
  }),
} as const satisfies Record<AssertionType, v.GenericSchema>

export type AssertionResult = v.InferOutput<(typeof RESULT_SCHEMAS)[AssertionType]>
