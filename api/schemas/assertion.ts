/** The shapes of what is asked of assertions, and of what they say (D12). */
import * as v from 'valibot'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import type { Invalid } from '../http/problem.ts'
import { codePoints } from './fields.ts'
import { schemaErrors } from '../http/invalid.ts'
import { isObject } from './nft-class.ts'
import { define } from './named-schema.ts'
import { complianceResult, liabilitiesResult, provenanceResult } from './responses/assertion.ts'

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

/** The members that a result of each type must have. Others may be added within the version of the interface. */
export const RESULT_SCHEMAS = {
  'proof-of-liabilities': liabilitiesResult,
  'proof-of-provenance': provenanceResult,
  'proof-of-compliance': complianceResult,
} as const satisfies Record<AssertionType, v.GenericSchema>
