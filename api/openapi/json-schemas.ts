/**
 * From valibot schemas to JSON Schema (2020-12, which OpenAPI 3.1 speaks).
 *   S1. A schema that has a name is converted once and referred to; equal objects are the same schema.
 *   S2. What JSON Schema cannot say is said in words: the rule of a check that stands beside it in the schema. What
 *       would vanish throws, when the document is built.
 */
import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { invariant } from '../../actors/result.ts'
import { isRecord } from '../../actors/shapes.ts'
import { FIELD_TEXTS } from './field-texts.ts'
import { referenceTo } from './openapi-types.ts'
import type { NamedSchema } from '../schemas/named-schema.ts'

export interface SchemaBook {
  /** By name. */
  readonly components: Readonly<Record<string, JsonObject>>
  /** A reference where it has a name, else the schema itself. */
  readonly of: (schema: GenericSchema) => JsonObject
  /** A reference; throws where it has no name. */
  readonly named: (schema: GenericSchema) => JsonObject
  /** The name; throws where there is none. */
  readonly nameOf: (schema: GenericSchema) => string
}

const CONVERSION: ConversionConfig = {
  target: 'draft-2020-12',
  overrideRef: ({ referenceId }) => referenceTo(referenceId),
  overrideAction({ valibotAction, jsonSchema }) {
    if (valibotAction.type !== 'check') return null
    const { message } = valibotAction as { readonly message?: unknown }
    invariant(typeof message === 'string', 'a check of a described schema has a message')
    return { ...jsonSchema, description: joined(jsonSchema.description, sentenceOf(message)) }
  },
  // Its metadata describes it: an empty schema fails the document's test.
  overrideSchema({ valibotSchema, jsonSchema }) {
    if (valibotSchema.type === 'custom') return {}
    const values = jsonSchema.enum ?? []
    return values.length > 0 && values.every(Number.isInteger) ? { ...jsonSchema, type: 'integer' } : null
  },
}

/** `named`: every schema that the document refers to by a name. */
export function createSchemaBook(named: ReadonlyMap<GenericSchema, NamedSchema>): SchemaBook {
  const sorted = [...named].sort(([, one], [, other]) => (one.name < other.name ? -1 : 1))
  const schemas = Object.fromEntries(sorted.map(([schema, { name }]) => [name, schema]))
  invariant(Object.keys(schemas).length === named.size, 'a name belongs to one schema')
  const converted = toJsonSchemaDefs(schemas as Parameters<typeof toJsonSchemaDefs>[0], CONVERSION)
  const components = Object.fromEntries(
    sorted.map(([, one]) => [one.name, withTexts(converted[one.name] as JsonObject, one)]),
  )
  const nameOf = (schema: GenericSchema): string => {
    const name = named.get(schema)?.name
    invariant(name !== undefined, 'the schema of a body has a name')
    return name
  }
  return {
    components,
    of: (schema) => (named.has(schema) ? { $ref: referenceTo(nameOf(schema)) } : alone(schema)),
    named: (schema) => ({ $ref: referenceTo(nameOf(schema)) }),
    nameOf,
  }
}

function alone(schema: GenericSchema): JsonObject {
  const { $schema: _, ...converted } = toJsonSchema(schema, { ...CONVERSION, definitions: {} })
  return converted as JsonObject
}

/** The schema with its own text and those of its fields. */
function withTexts(schema: JsonObject, { description, fields, closed, relations = {} }: NamedSchema): JsonObject {
  return {
    ...withFieldTexts(schema, fields),
    description: joined(description, schema['description']),
    ...relations,
    ...(closed === undefined ? {} : { additionalProperties: false }),
  }
}

/** Every field at every depth that is not described by what it refers to gets the text of its name. */
function withFieldTexts(schema: JsonObject, fields: Readonly<Record<string, string>>): JsonObject {
  const { properties, items } = schema
  return {
    ...schema,
    ...(isRecord<JsonObject>(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, property]) => [name, fieldOf(name, property as JsonObject, fields)]),
          ),
        }
      : {}),
    ...(isRecord<JsonObject>(items) ? { items: withFieldTexts(items, {}) } : {}),
  }
}

function fieldOf(name: string, property: JsonObject, fields: Readonly<Record<string, string>>): JsonObject {
  const text = fields[name] ?? FIELD_TEXTS[name]
  const inner = withFieldTexts(property, {})
  return text === undefined ? inner : { ...inner, description: joined(text, inner['description']) }
}

/** `must be so` as a sentence. */
function sentenceOf(rule: string): string {
  return `${rule.charAt(0).toUpperCase()}${rule.slice(1)}.`
}

function joined(...texts: readonly unknown[]): string {
  return texts.filter((text) => typeof text === 'string' && text !== '').join(' ')
}
