/**
 * Gives a schema its name and its texts in the OpenAPI document. They are kept beside the schema, by its identity: the
 * document refers to a schema by its name wherever the same object is used.
 */
import * as v from 'valibot'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { invariant } from '../../actors/result.ts'
import { objectMessage } from '../http/invalid.ts'

export interface NamedSchema {
  readonly name: string
  readonly description: string
  /** By field, if the name of the field does not say enough. */
  readonly fields: Readonly<Record<string, string>>
  /** The request is refused if it has other fields (D5). */
  readonly closed?: true
  /** Rules between fields, as JSON Schema. */
  readonly relations?: JsonObject
}

const NAMED_SCHEMAS = new Map<v.GenericSchema, NamedSchema>()

/** All that the loaded modules have named. */
export function namedSchemas(): ReadonlyMap<v.GenericSchema, NamedSchema> {
  return NAMED_SCHEMAS
}

export function named<const S extends v.GenericSchema>(name: string, description: string, schema: S): S {
  NAMED_SCHEMAS.set(schema, { name, description, fields: {} })
  return schema
}

/** A field, with its text if its name does not say enough. */
type Field = v.GenericSchema | readonly [v.GenericSchema, string]
type Fields = Readonly<Record<string, Field>>
type EntriesOf<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends readonly [infer S extends v.GenericSchema, string]
    ? S
    : F[K] extends v.GenericSchema
      ? F[K]
      : never
}

/** An object. Its parser names a missing field. */
export function define<const F extends Fields>(
  name: string,
  description: string,
  fields: F,
  more: Pick<NamedSchema, 'closed' | 'relations'> = {},
) {
  const all = Object.entries<Field>(fields)
  const entries = all.map(([field, one]) => [field, 'type' in one ? one : one[0]] as const)
  const texts = all.flatMap(([field, one]) => ('type' in one ? [] : [[field, one[1]] as const]))
  const schema = v.object(Object.fromEntries(entries) as EntriesOf<F>, objectMessage)
  NAMED_SCHEMAS.set(schema, { name, description, fields: Object.fromEntries(texts), ...more })
  return schema
}

/** An object of a request that is refused if it has other fields (D5). */
export function defineClosed<const F extends Fields>(name: string, description: string, fields: F) {
  return define(name, description, fields, { closed: true })
}

/** The schema with a rule between its fields; the result takes over the name. */
export function withRule<S extends v.GenericSchema>(
  schema: S,
  holds: (value: v.InferOutput<S>) => boolean,
  rule: string,
) {
  const ruled = v.pipe(schema, v.check(holds, rule))
  const texts = NAMED_SCHEMAS.get(schema)
  invariant(texts !== undefined, 'a rule is added to a named schema')
  NAMED_SCHEMAS.delete(schema)
  NAMED_SCHEMAS.set(ruled, texts)
  return ruled
}
