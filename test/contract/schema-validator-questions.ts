/** Questions for a schema validator: good ones, and some that are meant to stop it. */
import type { Json, JsonObject } from '../../actors/canonical-json.ts'

export const CAR: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    color: { enum: ['red', 'blue'] },
    serial: { type: 'string', pattern: '^[A-Z]{2}\\d{6}$' },
    parts: {
      type: 'array',
      items: { type: 'object', properties: { weight: { type: 'number', exclusiveMinimum: 0 } }, required: ['weight'] },
    },
  },
  required: ['color', 'serial'],
  additionalProperties: false,
}
export const GOOD_CAR: JsonObject = { color: 'red', serial: 'AB123456', parts: [{ weight: 1.5 }] }
export const BAD_CAR: JsonObject = { color: 'green', parts: [{ weight: 1 }, {}], wheels: 4 }

/** The errors of the bad car, in the order of their paths. */
export const CAR_ERRORS = [
  { path: 'color', message: 'must be equal to one of the allowed values' },
  { path: 'parts[1].weight', message: 'is required' },
  { path: 'serial', message: 'is required' },
  { path: 'wheels', message: 'is not allowed' },
]

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const named = (count: number, make: (index: number) => Json): JsonObject =>
  Object.fromEntries(times(count, (index) => [`p${index}`, make(index)]))
const nested = (levels: number, inner: Json, wrap: (value: Json) => Json): Json =>
  times(levels, () => null).reduce<Json>((value) => wrap(value), inner)
const deepValue = nested(31, {}, (x) => ({ x }))

/** A chain of definitions, each of which refers to the next as often as `make` likes. */
const laughs = (count: number, make: (next: JsonObject) => JsonObject): JsonObject => ({
  $ref: '#/$defs/p0',
  $defs: named(count, (index) => (index < count - 1 ? make({ $ref: `#/$defs/p${index + 1}` }) : { type: 'string' })),
})

/** Schemas that are refused whatever the time. */
export const HOSTILE_SCHEMAS: readonly (readonly [string, JsonObject])[] = [
  ['a billion laughs', laughs(40, (next) => ({ allOf: [next, next] }))],
  ['a billion laughs in properties', laughs(40, (next) => ({ properties: { a: next, b: next } }))],
  ['a long chain of references', laughs(900, (next) => next)],
  ['a schema that is itself', { $ref: '#' }],
  ['two schemas that are each other', { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#' }] } } }],
  ['a hundred thousand schemas', { allOf: times(20_000, () => ({})) }],
  ['an enum beyond the bounds', { enum: times(40_000, (index) => index) }],
  ['deep nesting', nested(40, {}, (not) => ({ not })) as JsonObject],
  ['deeper nesting', nested(5_000, {}, (not) => ({ not })) as JsonObject],
  ['a repetition of repetitions', { pattern: '((a{900}){900}){900}' }],
  ['a pattern of many repetitions', { pattern: times(100, (index) => `a{${900 + index}}`).join('') }],
  ['many patterns', { allOf: times(200, (index) => ({ pattern: `(a|b|${index}){500}` })) }],
  ['a look-ahead', { pattern: '^(?=(a+))\\1b' }],
  ['a group that never closes', { pattern: '('.repeat(10_000) }],
]

/** Schemas that are good or refused, and in either case soon. */
export const HEAVY_SCHEMAS: readonly (readonly [string, JsonObject])[] = [
  ['hundreds of properties', { properties: named(480, () => ({ type: 'string', maxLength: 9 })) }],
  ['hundreds of alternatives', { oneOf: times(240, (index) => ({ properties: { [`p${index}`]: { const: 1 } } })) }],
  ['hundreds of patterns', { patternProperties: named(480, () => false) }],
  ['dependencies of everything', { dependentRequired: named(150, () => times(60, (index) => `q${index}`)) }],
  [
    'deep alternatives',
    nested(14, true, (s) => ({ anyOf: [s, { type: 'null' }], unevaluatedItems: false })) as JsonObject,
  ],
]

/** Schemas and values that take a naive validator minutes, or all memory. */
export const HOSTILE_VALUES: readonly (readonly [string, JsonObject, Json])[] = [
  ['a catastrophic pattern', { pattern: '^(a+)+$' }, `${'a'.repeat(500_000)}!`],
  ['another catastrophic pattern', { pattern: '^(\\w+\\s?)*$' }, `${'a '.repeat(200_000)}!`],
  ['a pattern with a large automaton', { pattern: '(a|b)*a(a|b){20}$' }, 'ab'.repeat(100_000)],
  ['a catastrophic name', { patternProperties: { '^(a|a)*$': true } }, { [`${'a'.repeat(500_000)}!`]: 1 }],
  [
    'recursion that doubles at each level',
    { allOf: [{ properties: { x: { $ref: '#' } } }, { properties: { x: { $ref: '#' } } }] },
    deepValue,
  ],
  [
    'unevaluated members of recursion',
    {
      anyOf: [{ properties: { x: { $ref: '#' } } }, { properties: { x: { $ref: '#' } } }],
      unevaluatedProperties: false,
    },
    deepValue,
  ],
  ['items that must all be told apart', { uniqueItems: true }, times(50_000, (index) => ({ index }))],
  ['an error for each of many items', { items: { type: 'string', minLength: 2 } }, times(300_000, () => 1)],
  ['contains, and contains, and contains', threefold('contains'), cube(40)],
  ['unevaluated items within items', threefold('unevaluatedItems'), cube(40)],
  ['every name against every pattern', { patternProperties: named(480, () => false) }, named(20_000, () => 1)],
  ['names that are all required of all', { items: { required: times(8_000, String) } }, times(50_000, () => ({}))],
  ['multiples of what is hardly there', { items: { multipleOf: 5e-324 } }, times(50_000, () => 1.797e308)],
  ['large numbers of large numbers', { items: { multipleOf: 1e308 } }, times(50_000, () => 5e-324)],
]

function threefold(keyword: string): JsonObject {
  return { [keyword]: { [keyword]: { [keyword]: { const: 1 } } } }
}

function cube(size: number): Json {
  return times(size, () => times(size, () => times(size, () => 2)))
}
