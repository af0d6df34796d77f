/** Cases that the official suite lacks: JavaScript's names, negative zero, decimals, and keywords of other dialects. */
import { expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import { createSchemaValidatorInPlace } from '../../support/memory/schema-validator-in-place.ts'

type Row = readonly [schema: JsonObject, valid: readonly Json[], invalid: readonly Json[]]

const DRAFT_07 = { $schema: 'http://json-schema.org/draft-07/schema' }
const NEWER = { $schema: 'https://json-schema.org/draft/2020-12/schema#' }

/** As parsed from a body: the object has a member of any name. */
function parsed(text: string): JsonObject {
  return JSON.parse(text) as JsonObject
}

const BOTH: readonly Row[] = [
  [parsed('{"const":{"constructor":1,"__proto__":3}}'), [parsed('{"__proto__":3,"constructor":1}')], [{}]],
  [{ enum: [0] }, [0, JSON.parse('-0') as Json], [false, null, []]],
  [{ uniqueItems: true }, [[1, '1', true, null, 'null']], [[0, JSON.parse('-0') as Json]]],
  [{ multipleOf: 0.01 }, [19.99, 0.07, 1.13, 4.35, 1e22, -3.3], [19.999, 0.001, 1e-7]],
  [{ pattern: '^a*$' }, ['', 'aaa', 1, null], ['b', 'ab', 'a\n']],
  [{ required: ['__proto__', 'length', "a'b"] }, [parsed(`{"__proto__":1,"length":1,"a'b":1}`)], [{}, { length: 1 }]],
  [{ additionalProperties: false, properties: { a: {} } }, [{ a: 1 }], [parsed('{"__proto__":1}'), { constructor: 1 }]],
  [{ format: 'no-such-format' }, ['anything', 1], []],
]
const ONLY_2020_12: readonly Row[] = [
  ...BOTH,
  [{ dependentRequired: { toString: ['b'] } }, [{}], [{ toString: 1 }]],
  [{ dependencies: { a: ['b'] } }, [{ a: 1 }], []],
  [
    { anyOf: [{ patternProperties: { '^x': {} } }], unevaluatedProperties: false },
    [{ x: 1 }],
    [{ constructor: 1 }, { toString: 1 }, parsed('{"__proto__":1}')],
  ],
  [
    { allOf: [{ contains: { multipleOf: 2 } }, { contains: { multipleOf: 3 } }], unevaluatedItems: false },
    [[2, 3]],
    [[7]],
  ],
  [{ contains: {}, prefixItems: [{}] }, [[1]], [[]]],
  [{ nullable: true, discriminator: { propertyName: 'a' }, type: 'string' }, ['a'], [null]],
  [{ id: 1, formatMinimum: '2020', coerce: true, default: 'a', examples: [1], readOnly: true }, [1, null], []],
]
const ONLY_DRAFT_07: readonly Row[] = [
  ...BOTH,
  [{ prefixItems: [false], dependentRequired: { a: ['b'] }, unevaluatedProperties: false }, [[1], { a: 1 }], []],
  [{ contains: { const: 1 }, minContains: 2, maxContains: 0 }, [[1]], [[], [2]]],
]

const validator = createSchemaValidatorInPlace()

test.for([
  ...ONLY_2020_12.map((row) => [NEWER, ...row] as const),
  ...ONLY_DRAFT_07.map((row) => [DRAFT_07, ...row] as const),
])('%j: %j', async ([dialect, schema, valid, invalid]) => {
  const whole = { ...dialect, ...schema }
  expect(await validator.check(whole)).toEqual({ kind: 'valid' })
  for (const value of valid) expect([value, await validator.validate(whole, value)]).toEqual([value, { kind: 'valid' }])
  for (const value of invalid) {
    expect([value, await validator.validate(whole, value)]).toMatchObject([value, { kind: 'invalid' }])
  }
})
