/** Random schemas and values never break the judge, and it agrees with plain ajv where ajv is right. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson, type Json, type JsonObject } from '../../../actors/canonical-json.ts'
import { createJudge } from '../../../infra/schema/judge.ts'

const NAMES = ['a', 'b', 'c', 'constructor', 'toString', 'valueOf', '__proto__', 'x/y', '~', '0', 'length']
const SCALARS = [
  null,
  true,
  false,
  0,
  1,
  2,
  -1,
  1.5,
  0.1,
  1e300,
  '',
  'a',
  'ab',
  'abc',
  '2020-01-01',
  'x@y.example',
  '1e3',
]

const values = fc
  .letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(...SCALARS),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 4 }),
    ),
  }))
  .value.map(plain)

const schemas = fc
  .letrec<{ schema: unknown }>((tie) => {
    const schema = tie('schema')
    const list = fc.array(schema, { minLength: 1, maxLength: 3 })
    const safe = fc.constantFrom(...NAMES.filter((name) => name !== '__proto__'))
    const named = fc.dictionary(safe, schema, { maxKeys: 3 })
    const small = fc.nat(3)
    const words: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
      type: fc.constantFrom('string', 'number', 'integer', 'object', 'array', 'null', 'boolean', ['string', 'object']),
      enum: fc.array(values, { minLength: 1, maxLength: 3 }),
      const: values,
      multipleOf: fc.constantFrom(1, 2, 0.5, 0.1),
      minimum: small,
      exclusiveMaximum: small,
      minLength: small,
      maxLength: small,
      pattern: fc.constantFrom('^a', 'b$', '.*', '[a-c]+', '\\d', 'a|b', '(?=a)', '('),
      format: fc.constantFrom('date', 'email', 'uri', 'regex', 'no-such-format'),
      minItems: small,
      maxItems: small,
      uniqueItems: fc.boolean(),
      minContains: small,
      maxContains: small,
      minProperties: small,
      maxProperties: small,
      required: fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 2 }),
      dependentRequired: fc.dictionary(safe, fc.uniqueArray(safe, { maxLength: 2 }), { maxKeys: 2 }),
      dependentSchemas: named,
      ...Object.fromEntries(['allOf', 'anyOf', 'oneOf', 'prefixItems'].map((word) => [word, list])),
      ...Object.fromEntries(['properties', '$defs'].map((word) => [word, named])),
      patternProperties: fc.dictionary(fc.constantFrom('^a', 'b', '.'), schema, { maxKeys: 2 }),
      ...Object.fromEntries(
        ['not', 'if', 'then', 'else', 'additionalProperties', 'propertyNames', 'items', 'contains'].map((word) => [
          word,
          schema,
        ]),
      ),
      unevaluatedItems: schema,
      unevaluatedProperties: schema,
      $ref: fc.constantFrom('#', '#/$defs/a', '#/properties/b', '#/items'),
      $id: fc.constantFrom('https://e.example/', 'part'),
      $anchor: fc.constantFrom('x', 'y'),
      unknown: values,
    }
    const keywords = fc
      .subarray(Object.keys(words), { maxLength: 5 })
      .chain((chosen) =>
        fc
          .tuple(...chosen.map((word) => words[word] ?? fc.constant(null)))
          .map((drawn) => Object.fromEntries(chosen.map((word, index) => [word, drawn[index]]))),
      )
    return { schema: fc.oneof({ maxDepth: 4 }, fc.boolean(), keywords) }
  })
  .schema.map((schema) => (typeof schema === 'boolean' ? { allOf: [schema] } : (plain(schema) as JsonObject)))

const judge = createJudge()

test('random schemas and values get a verdict', () => {
  const counts = { refused: 0, valid: 0, invalid: 0 }
  fc.assert(
    fc.property(schemas, values, (schema, value) => {
      const text = canonicalJson(schema)
      const checked = judge.check(text)
      const verdict = checked.kind === 'valid' ? judge.validate(text, canonicalJson(value)) : undefined
      counts[verdict?.kind ?? 'refused'] += 1
      const reason = checked.kind === 'invalid' ? checked.reason : 'It is valid.'
      const errors = verdict?.kind === 'invalid' ? verdict.errors.length : 1
      expect(reason).toMatch(/^(?:It|The|With|Its) .*\.$/s)
      expect(errors > 0 && errors <= 100).toBe(true)
    }),
    { numRuns: 1_500 },
  )
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(50)
})

/** Known differences from plain ajv. */
const DIFFERENT =
  /unevaluated|contains|multipleOf|\$ref|\$id|\$anchor|format|__proto__|constructor|toString|valueOf|length/

test('the verdict is that of plain ajv', () => {
  let compared = 0
  fc.assert(
    fc.property(schemas, values, (schema, value) => {
      fc.pre(!DIFFERENT.test(canonicalJson([schema, value])))
      const text = canonicalJson(schema)
      if (judge.check(text).kind === 'invalid') return
      const plainly = new Ajv2020({ strict: false, logger: false, meta: false, validateSchema: false }).compile(schema)
      expect(judge.validate(text, canonicalJson(value)).kind).toBe(plainly(value) ? 'valid' : 'invalid')
      compared += 1
    }),
    { numRuns: 500 },
  )
  expect(compared).toBeGreaterThan(200)
})

/** As parsed from a body: no negative zero, no object without a prototype. */
function plain(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json
}
