/** An unsupported schema is refused with its place, and each bound is exact. */
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import {
  MAX_EXPANDED_DEPTH,
  MAX_EXPANDED_SUBSCHEMAS,
  MAX_PATTERN_COST,
  MAX_SCHEMA_BYTES,
  MAX_SUBSCHEMAS,
} from '../../../infra/schema/limits.ts'
import { createSchemaValidatorInPlace } from '../../support/memory/schema-validator-in-place.ts'

const validator = createSchemaValidatorInPlace()
const DRAFT_07 = { $schema: 'http://json-schema.org/draft-07/schema#' }
const VALID = { kind: 'valid' }

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))

async function reasonOf(schema: JsonObject): Promise<string> {
  const verdict = await validator.check(schema)
  return verdict.kind === 'invalid' ? verdict.reason : verdict.kind
}

describe('malformed schemas', () => {
  const rows: readonly (readonly [JsonObject, string])[] = [
    [{ type: 'text' }, '2020-12: /type'],
    [{ properties: { a: { minLength: -1 } } }, '2020-12: /properties/a/minLength'],
    [{ properties: [] }, '2020-12: /properties'],
    [{ items: [{}] }, '2020-12: /items'],
    [{ required: 'a' }, '2020-12: /required'],
    [{ multipleOf: 0 }, '2020-12: /multipleOf'],
    [{ allOf: [] }, '2020-12: /allOf'],
    [{ $id: 'a#b' }, '2020-12: /$id'],
    [{ $anchor: '1' }, '2020-12: /$anchor'],
    [{ ...DRAFT_07, minLength: 1.5 }, 'draft-07: /minLength'],
    [{ ...DRAFT_07, items: 1 }, 'draft-07: /items'],
  ]
  test.for(rows)('%o', async ([schema, place]) => {
    const [beginning, reason] = (await reasonOf(schema)).split(`${place} `)
    expect(beginning).toBe('It is not a JSON Schema of ')
    expect(reason).toMatch(/\w.*\.$/)
  })
})

describe('other dialects', () => {
  const others: readonly Json[] = [
    'http://json-schema.org/draft-06/schema#',
    'http://json-schema.org/draft-04/schema#',
    'https://json-schema.org/draft/2019-09/schema',
    'http://json-schema.org/schema#',
    'https://example.com/dialect',
    'https://json-schema.org/draft/2020-12/schema#other',
    '',
    1,
    null,
  ]
  test.for(others)('%j', async ($schema) => {
    expect(await reasonOf({ $schema })).toBe('Its $schema is neither JSON Schema 2020-12 nor draft-07.')
  })

  test('in a part of the schema', async () => {
    const part = { $id: 'https://example.com/part', $schema: 'http://json-schema.org/draft-07/schema#' }
    expect(await reasonOf({ $defs: { part } })).toBe('The schema at /$defs/part has another $schema than the root.')
    expect(await reasonOf({ ...DRAFT_07, definitions: { part } })).toBe('valid')
  })
})

describe('unsupported keywords', () => {
  const words = ['$async', '$data', '$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor']
  test.for(words.flatMap((word) => [{}, DRAFT_07].map((dialect) => ({ word, dialect }))))(
    '$word',
    async ({ word, dialect }) => {
      const value = word === '$async' ? true : word.endsWith('Anchor') ? 'a' : '#'
      expect(await reasonOf({ ...dialect, [word]: value })).toBe(`The schema has ${word}, which is not supported.`)
      const inside = { properties: { 'a/b': { items: { [word]: value } } } }
      const place = word === '$data' ? '/properties/a~1b has $data in items' : `/properties/a~1b/items has ${word}`
      expect(await reasonOf({ ...dialect, ...inside })).toBe(`The schema at ${place}, which is not supported.`)
      // As the name of a member, or within a constant, it is only a name.
      expect(await reasonOf({ ...dialect, properties: { [word]: { type: 'string' } }, required: [word] })).toBe('valid')
      expect(await reasonOf({ ...dialect, enum: [{ [word]: value }] })).toBe('valid')
    },
  )

  test('$data in the place of a value', async () => {
    expect(await reasonOf({ const: { $data: '1/a' } })).toBe('The schema has $data in const, which is not supported.')
    expect(await reasonOf({ enum: { $data: '1/a' } })).toContain(': /enum ')
    expect(await reasonOf({ minimum: { $data: '1/a' } })).toContain(': /minimum ')
    expect(await reasonOf({ $defs: { $data: {} }, properties: { $data: {} } })).toBe('valid')
  })

  test.for(['properties', 'patternProperties', 'dependentSchemas', 'dependentRequired'])(
    '__proto__ in %s',
    async (word) => {
      const names = JSON.parse(`{"__proto__":${word === 'dependentRequired' ? '["a"]' : '{}'}}`) as Json
      expect(await reasonOf({ [word]: names })).toBe(
        `The schema has a member named __proto__ in ${word}, which is not supported.`,
      )
    },
  )
})

describe('references', () => {
  const OUT = 'has a $ref to another document. Only references within the schema are supported.'
  const rows: readonly (readonly [JsonObject, string])[] = [
    [{ $ref: 'https://example.com/other' }, `The schema ${OUT}`],
    [{ properties: { a: { $ref: 'other.json#/a' } } }, `The schema at /properties/a ${OUT}`],
    [{ $ref: 'file:///etc/passwd' }, `The schema ${OUT}`],
    [{ $ref: 'https://json-schema.org/draft/2020-12/schema' }, `The schema ${OUT}`],
    [{ $ref: '#/nowhere' }, 'The schema has a $ref to a place without a schema.'],
    [{ $ref: '#/properties', properties: {} }, 'The schema has a $ref to a place without a schema.'],
    [{ $ref: '#/const', const: {} }, 'The schema has a $ref to a place without a schema.'],
    [{ $ref: '#/unknown', unknown: {} }, 'The schema has a $ref to a place without a schema.'],
    [{ $ref: '#anchor' }, 'The schema has a $ref to a place without a schema.'],
    [{ $ref: '#%' }, 'The schema has a $ref to a place without a schema.'],
    [{ $ref: '#' }, 'The schema refers to itself without end.'],
    [{ anyOf: [{ not: { $ref: '#' } }] }, 'The schema refers to itself without end.'],
    [{ dependentSchemas: { a: { $ref: '#' } } }, 'The schema refers to itself without end.'],
    [{ $id: 'a', $defs: { b: { $id: 'a' } } }, 'The schema at /$defs/b has the $id of another schema.'],
    [{ $anchor: 'a', $defs: { b: { $anchor: 'a' } } }, 'The schema at /$defs/b has the anchor of another schema.'],
    [
      { ...DRAFT_07, definitions: { a: { $id: '#a' }, b: { $id: '#a' } } },
      'The schema at /definitions/b has the anchor of another schema.',
    ],
    [{ $id: 'http://a:b:c' }, 'The schema has a $id that is not a URI reference.'],
  ]
  test.for(rows)('%o', async ([schema, reason]) => {
    expect(await reasonOf(schema)).toBe(reason)
  })
})

describe('bounds', () => {
  test(`${MAX_SCHEMA_BYTES} bytes as canonical JSON`, async () => {
    const overhead = '{"title":""}'.length
    expect(await reasonOf({ title: 'x'.repeat(MAX_SCHEMA_BYTES - overhead) })).toBe('valid')
    expect(await reasonOf({ title: 'x'.repeat(MAX_SCHEMA_BYTES - overhead + 1) })).toBe(
      'It has more than 65,536 bytes as canonical JSON.',
    )
  })

  test('32 levels of JSON', async () => {
    const nested = (levels: number): JsonObject => (levels === 1 ? {} : { not: nested(levels - 1) })
    expect(await reasonOf(nested(32))).toBe('valid')
    expect(await reasonOf(nested(33))).toBe('It is nested deeper than 32 levels.')
  })

  test(`${MAX_SUBSCHEMAS} schemas, the root included`, async () => {
    const schema = (count: number): JsonObject => ({
      properties: Object.fromEntries(times(count - 1, (i) => [`p${i}`, {}])),
    })
    expect(await reasonOf(schema(MAX_SUBSCHEMAS))).toBe('valid')
    expect(await reasonOf(schema(MAX_SUBSCHEMAS + 1))).toBe(`It has more than ${MAX_SUBSCHEMAS} schemas in it.`)
  })

  test(`${MAX_EXPANDED_SUBSCHEMAS} schemas with each $ref in place`, async () => {
    // Two hundred times a hundred, less one for the root.
    const members = (count: number): JsonObject => Object.fromEntries(times(count, (i) => [`p${i}`, { minLength: 1 }]))
    const schema = (rest: number): JsonObject => ({
      $defs: { hundred: { properties: members(98) }, rest: { properties: members(rest) } },
      allOf: [...times(199, () => ({ $ref: '#/$defs/hundred' })), { $ref: '#/$defs/rest' }],
    })
    expect(await reasonOf(schema(97))).toBe('valid')
    expect(await reasonOf(schema(98))).toBe(
      `With each $ref in place it has more than ${MAX_EXPANDED_SUBSCHEMAS} schemas in it.`,
    )
  })

  test(`${MAX_EXPANDED_DEPTH} levels of schemas with each $ref in place`, async () => {
    const chain = (length: number): JsonObject => ({
      $ref: '#/$defs/p1',
      $defs: Object.fromEntries(
        times(length - 1, (i) => [`p${i + 1}`, i < length - 2 ? { $ref: `#/$defs/p${i + 2}` } : {}]),
      ),
    })
    expect(await reasonOf(chain(MAX_EXPANDED_DEPTH))).toBe('valid')
    expect(await reasonOf(chain(MAX_EXPANDED_DEPTH + 1))).toBe(
      `With each $ref in place its schemas nest deeper than ${MAX_EXPANDED_DEPTH} levels.`,
    )
  })

  test('recursion through members does not count', async () => {
    const kinds = times(10, (i) => `kind${i}`)
    const schema: JsonObject = {
      $ref: '#/$defs/any',
      $defs: {
        any: { oneOf: kinds.map((kind) => ({ $ref: `#/$defs/${kind}` })) },
        ...Object.fromEntries(
          kinds.map((kind) => [
            kind,
            {
              type: 'object',
              properties: { kind: { const: kind }, left: { $ref: '#/$defs/any' }, right: { $ref: '#/$defs/any' } },
              required: ['kind'],
            },
          ]),
        ),
      },
    }
    expect(await validator.check(schema)).toEqual(VALID)
    expect(await validator.validate(schema, { kind: 'kind3', left: { kind: 'kind9' } })).toEqual(VALID)
    expect(await validator.validate(schema, { kind: 'kind3', left: { kind: 'other' } })).toMatchObject({
      kind: 'invalid',
    })
  })

  test(`patterns of ${MAX_PATTERN_COST} instructions`, async () => {
    const schema = (count: number): JsonObject => ({ allOf: times(count, (i) => ({ pattern: `[ab]{990}${i}` })) })
    expect(await reasonOf(schema(20))).toBe('valid')
    expect(await reasonOf(schema(21))).toBe('Its patterns are too large.')
  })

  test('a reason is short even if names are long', async () => {
    const reason = await reasonOf({ properties: { ['x'.repeat(10_000)]: { $async: true } } })
    expect(reason).toMatch(/^The schema at \/properties\/x{244}… has \$async, which is not supported\.$/)
  })
})
