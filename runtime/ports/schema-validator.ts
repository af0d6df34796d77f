/**
 * JSON Schema for NFT metadata (D11). Input may be hostile: validation runs off the caller's thread, and every call
 * ends within a bound. 2020-12; draft-07 if `$schema` says so.
 * Contract: test/contract/schema-validator.contract.ts
 *   M1. The same schema and value get the same verdict, unless it is `overloaded`.
 *   M2. A call that exceeds the limits on time or memory gets `invalid`, and affects no other call.
 */
import type { Json, JsonObject } from '../../actors/canonical-json.ts'

export interface SchemaValidator {
  /** Whether values can be validated against the schema. Never rejects. */
  readonly check: (schema: JsonObject) => Promise<SchemaVerdict>
  /** Whether the value satisfies a schema that passed `check`. Never rejects. */
  readonly validate: (schema: JsonObject, value: Json) => Promise<ValueVerdict>
}

export type SchemaVerdict =
  | { readonly kind: 'valid' }
  /** `reason`: a sentence without values of the schema. */
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
