/** The shapes of what is asked of assertions, and of what they say (D12). */
import * as v from 'valibot'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import { ok, type Result } from '../../../actors/result.ts'
import type { Invalid } from '../../http/problem.ts'
import { define } from '../named-schema.ts'
import { objectField, textField } from '../fields.ts'
import { readBody } from '../read-body.ts'
import { complianceResult, liabilitiesResult, provenanceResult } from '../responses/assertion.ts'

export const ASSERTION_TYPES = ['proof-of-liabilities', 'proof-of-provenance', 'proof-of-compliance'] as const
export type AssertionType = (typeof ASSERTION_TYPES)[number]

const TEXT_RULE = 'must be a string'

export const assertionRequestSchema = define('AssertionRequest', 'The requester.', {
  requester: [textField(1, 256), 'The identifier of who asks; it is signed.'],
})

/** The result decides whether the assertion is valid, not whether the request is well formed. */
export const assertionCheckSchema = define(
  'AssertionCheck',
  'An assertion as it was received. Other fields are ignored.',
  {
    assertion_type: [v.string(TEXT_RULE), 'The type of the assertion.'],
    // An object schema would take a list.
    result: [objectField('must be an object'), 'The findings, unchanged.'],
    signature: [v.string(TEXT_RULE), 'The service’s, over the canonical JSON (RFC 8785) of `result`.'],
  },
)

/** The requester. */
export function readAssertionRequest(body: JsonObject): Result<string, readonly Invalid[]> {
  const read = readBody(assertionRequestSchema, body)
  return read.ok ? ok(read.value.requester) : read
}

/** An assertion to verify. */
export interface GivenAssertion {
  readonly assertionType: string
  /** As it came: its members in whatever order. */
  readonly result: JsonObject
  readonly signature: string
}

export function readAssertionCheck(body: JsonObject): Result<GivenAssertion, readonly Invalid[]> {
  const read = readBody(assertionCheckSchema, body)
  if (!read.ok) return read
  const { assertion_type: assertionType, result, signature } = read.value
  return ok({ assertionType, result, signature })
}

/** The members that a result of each type must have. Others may be added within the version of the interface. */
export const RESULT_SCHEMAS = {
  'proof-of-liabilities': liabilitiesResult,
  'proof-of-provenance': provenanceResult,
  'proof-of-compliance': complianceResult,
} as const satisfies Record<AssertionType, v.GenericSchema>
