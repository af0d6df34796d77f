/** An error names the place and the problem in words that a client can read. */
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import { TOO_MUCH_WORK_FOR_VALUE } from '../../../infra/schema/question.ts'
import { createSchemaValidatorInPlace } from '../../support/memory/schema-validator-in-place.ts'

const validator = createSchemaValidatorInPlace()
const DRAFT_07 = { $schema: 'http://json-schema.org/draft-07/schema#' }

async function errorsOf(schema: JsonObject, value: Json): Promise<readonly string[]> {
  const verdict = await validator.validate(schema, value)
  return verdict.kind === 'invalid' ? verdict.errors.map(({ path, message }) => `${path}: ${message}`) : [verdict.kind]
}

describe('the path', () => {
  const deep = { properties: { parts: { items: { properties: { weight: { type: 'number' } } } } } }
  const rows: readonly (readonly [JsonObject, Json, string])[] = [
    [{ type: 'object' }, 1, ': must be object'],
    [{ properties: { color: { type: 'string' } } }, { color: 1 }, 'color: must be string'],
    [deep, { parts: [{}, { weight: 'x' }] }, 'parts[1].weight: must be number'],
    [{ items: { items: { type: 'string' } } }, [[], ['a', 1]], '[1][1]: must be string'],
    [{ properties: { 0: { type: 'string' } } }, { 0: 1 }, '0: must be string'],
    [{ properties: { 'a/b~c': { type: 'string' } } }, { 'a/b~c': 1 }, 'a/b~c: must be string'],
    [{ required: ['color'] }, {}, 'color: is required'],
    [{ items: { required: ['a'] } }, [{}], '[0].a: is required'],
    [{ dependentRequired: { a: ['b'] } }, { a: 1 }, 'b: is required by another member'],
    [{ ...DRAFT_07, dependencies: { a: ['b'] } }, { a: 1 }, 'b: is required by another member'],
    [{ items: { dependentRequired: { a: ['b'] } } }, [{ a: 1 }], '[0].b: is required by another member'],
    [{ additionalProperties: false }, { a: 1 }, 'a: is not allowed'],
    [{ items: { additionalProperties: false } }, [{ a: 1 }], '[0].a: is not allowed'],
    [{ unevaluatedProperties: false }, { 'a/b': 1 }, 'a/b: is not allowed'],
    [{ items: { unevaluatedProperties: { type: 'null' } } }, [{ a: 1 }], '[0].a: must be null'],
    [{ unevaluatedItems: false }, [1], '[0]: is not allowed'],
    [
      { properties: { a: { prefixItems: [{}], unevaluatedItems: { type: 'null' } } } },
      { a: [1, 2] },
      'a[1]: must be null',
    ],
    [{ properties: { a: false } }, { a: 1 }, 'a: is not allowed'],
    [{ items: { contains: { const: 1 } } }, [[2]], '[0]: must contain at least 1 valid item(s)'],
    [{ contains: { const: 1 }, maxContains: 1 }, [1, 1], ': must contain at least 1 and no more than 1 valid item(s)'],
  ]
  test.for(rows)('%j of %j: %s', async ([schema, value, expected]) => {
    expect(await errorsOf(schema, value)).toEqual([expected])
  })

  test('a member with a name that is not allowed', async () => {
    expect(await errorsOf({ propertyNames: { maxLength: 1 } }, { a: 1, bb: 1 })).toEqual([
      'bb: has a name that must NOT have more than 1 characters',
      'bb: has a name that is not allowed',
    ])
  })
})

describe('the errors', () => {
  test('all errors are reported together', async () => {
    const schema = {
      required: ['a', 'b'],
      properties: { c: { minimum: 1, multipleOf: 2 } },
      additionalProperties: false,
    }
    expect((await errorsOf(schema, { c: -1, d: 1 })).toSorted()).toEqual([
      'a: is required',
      'b: is required',
      'c: must be >= 1',
      'c: must be multiple of 2',
      'd: is not allowed',
    ])
  })

  test('the same error is reported once', async () => {
    expect(await errorsOf({ allOf: [{ type: 'string' }, { type: 'string' }] }, 1)).toEqual([': must be string'])
  })

  test('at most 100 errors, in order', async () => {
    const errors = await errorsOf({ items: { type: 'string' } }, Array<Json>(20_000).fill(1))
    expect([errors.length, errors[0], errors[99]]).toEqual([100, '[0]: must be string', '[99]: must be string'])
  })

  test('copying errors is work: 300 alternatives of 55 nested schemas around 100 errors are given up', async () => {
    const members = (count: number, make: (index: number) => Json): JsonObject =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, make(index)]))
    // JSON of five times eleven levels would be too deep by itself.
    const nested = (levels: number, inmost: JsonObject): JsonObject =>
      levels === 0 ? inmost : { anyOf: [nested(levels - 1, inmost)] }
    const parts = members(5, (index) => nested(11, { $ref: `#/$defs/p${index + 1}` }))
    const p5 = { required: Object.keys(members(100, () => 0)) }
    const schema = (alternatives: number): JsonObject => ({
      $defs: { ...parts, p5 },
      anyOf: Array.from({ length: alternatives }, () => ({ $ref: '#/$defs/p0' })),
    })
    expect(await errorsOf(schema(30), {})).toHaveLength(100)
    expect(await errorsOf(schema(300), {})).toEqual([`: ${TOO_MUCH_WORK_FOR_VALUE}`])
  })

  test('messages and paths are cut between code points', async () => {
    const [message] = await errorsOf({ pattern: '💩'.repeat(1_000) }, 'a')
    expect(message).toBe(`: must match pattern "${'💩'.repeat(236)}…`)
    const [path] = await errorsOf({ additionalProperties: false }, { ['💩'.repeat(1_000)]: 1 })
    expect(path).toBe(`${'💩'.repeat(256)}…: is not allowed`)
  })
})
