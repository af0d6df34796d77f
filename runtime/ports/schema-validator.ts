/**
 * JSON Schema for NFT metadata (D11). What is asked may be hostile: nothing of it runs on the caller's thread, and every
 * question ends, within a bound, in an answer. 2020-12; draft-07 where `$schema` says so.
 * Contract: test/contract/schema-validator.contract.ts
 *   M1. The same schema and value get the same answer, unless the answer is `overloaded`.
 *   M2. A question that cannot be answered within the bounds on time and memory is a `no`, and harms no other question.
 */
import type { Json, JsonObject } from '../../actors/canonical-json.ts'

export interface SchemaValidator {
  /** Whether instances can be held against it. Never rejects. */
  readonly check: (schema: JsonObject) => Promise<SchemaVerdict>
  /** Whether the value satisfies a schema that passed `check`. Never rejects. */
  readonly validate: (schema: JsonObject, value: Json) => Promise<ValueVerdict>
}

export type SchemaVerdict =
  | { readonly kind: 'valid' }
  /** `reason`: a sentence without anything of the schema's values in it. */
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'overloaded' }

export type ValueVerdict =
  | { readonly kind: 'valid' }
  /** At least one, at most 100. */
  | { readonly kind: 'invalid'; readonly errors: readonly ValueError[] }
  | { readonly kind: 'overloaded' }

export interface ValueError {
  /** Path in the value, as `color` or `parts[0].weight`; empty: the whole. */
  readonly path: string
  readonly message: string
}
