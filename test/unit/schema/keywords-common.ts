/**
 * What both drafts say. Of keywords that ajv answers for by itself a row shows that they reach it; all others have rows for
 * what they mean. Formats: format-suite.test.ts.
 */
import { parsed, parsedObject, type Row } from './keyword-table.ts'

export const COMMON: readonly Row[] = [
  [{ type: ['string', 'null'] }, ['a', null], [1, [], false]],
  [{ minimum: 1 }, [1, 'a'], [0]],
  [{ exclusiveMinimum: 1 }, [2], [1]],
  [{ maximum: 1 }, [1], [2]],
  [{ exclusiveMaximum: 1 }, [0], [1]],
  [{ minLength: 2 }, ['ab', '💩💩', 1], ['a', '💩']],
  [{ maxLength: 2 }, ['ab', '💩💩'], ['abc', '💩💩💩']],
  [{ minItems: 1 }, [[1], 'a'], [[]]],
  [{ maxItems: 1 }, [[1]], [[1, 2]]],
  [{ minProperties: 1 }, [{ a: 1 }, []], [{}]],
  [{ maxProperties: 1 }, [{ a: 1 }], [{ a: 1, b: 2 }]],
  [{ items: { type: 'string' } }, [[], ['a', 'b'], 1, { 0: 1 }], [['a', 1]]],
  [{ items: false }, [[], 1], [[1]]],
  [{ required: ['a'] }, [{ a: null }, [], 1], [{}]],
  [{ properties: { a: { type: 'string' }, b: false } }, [{}, { a: 'x' }, []], [{ a: 1 }, { b: null }]],
  [{ additionalProperties: { type: 'string' } }, [{}, { a: 'x' }], [{ a: 1 }]],
  [{ propertyNames: { pattern: '^[a-z]+$' } }, [{}, { abc: 1 }, []], [{ A: 1 }, { a1: 1 }]],
  [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [0, 3]],
  [{ anyOf: [{ type: 'string' }, { minimum: 5 }] }, ['a', 5], [4]],
  [{ oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, [2, 3], [6, 1]],
  [{ not: { not: { type: 'string' } } }, ['a'], [1]],
  [parsedObject('{"if":{"type":"string"},"then":{"minLength":2},"else":{"minimum":5}}'), ['ab', 5], ['a', 4]],
  [parsedObject('{"then":{"minLength":2},"else":false}'), ['a', 1], []],
  [{ format: 'no-such-format' }, ['anything', 1], []],
]

export const OURS: readonly Row[] = [
  [{ const: { a: [1, null], b: 'c' } }, [{ b: 'c', a: [1, null] }], [{ a: [null, 1], b: 'c' }, { a: [1, null] }]],
  [{ const: 1 }, [1, 1.0], ['1', true, [1]]],
  [{ const: null }, [null], [0, false, {}]],
  [{ enum: [1, 'a', null, { b: [] }] }, [1, 'a', null, { b: [] }], [2, 'b', false, { b: [1] }, {}]],
  [{ enum: [0] }, [0, parsed('-0')], [false, null, []]],
  [
    { const: parsed('{"constructor":1,"valueOf":2,"__proto__":3}') },
    [parsed('{"valueOf":2,"__proto__":3,"constructor":1}')],
    [{}],
  ],
  [{ multipleOf: 2 }, [0, 4, -2, 1e300, 'a'], [1, 3, 0.5]],
  [{ multipleOf: 0.01 }, [19.99, 0.07, 1.13, 4.35, 1e22, -3.3], [19.999, 0.001, 1e-7]],
  [{ multipleOf: 5e-324 }, [5e-324, 1.7976931348623157e308, 0], []],
  [{ pattern: '^a*$' }, ['', 'aaa', 1, null], ['b', 'ab', 'a\n']],
  [
    { uniqueItems: true },
    [[1, '1', true, 0, false, null, 'null'], [{ a: 1, b: 2 }, { a: 1 }], [], 'aa'],
    [
      [0, parsed('-0')],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [[], []],
    ],
  ],
  [{ uniqueItems: false }, [[1, 1]], []],
  [{ contains: { minimum: 5 } }, [[1, 5], 'a', {}], [[], [1, 2]]],
  [{ contains: false }, ['a'], [[], [1]]],
  [{ contains: true }, [[1]], [[]]],
  [
    { required: ['toString', '__proto__', 'length', 'a"b', "a'b", 'a\nb', 'a\\b'] },
    [parsed(String.raw`{"toString":1,"__proto__":1,"length":1,"a\"b":1,"a'b":1,"a\nb":1,"a\\b":1}`)],
    [{}, { toString: 1 }],
  ],
  [
    { properties: { constructor: { type: 'number' }, toString: { type: 'number' } } },
    [{}, { constructor: 1 }],
    [{ constructor: 'a' }, { toString: {} }],
  ],
  [
    { patternProperties: { '^a': { type: 'string' }, b$: { minLength: 2 } } },
    [{}, { a: 'x', c: 1 }, { ab: 'xx' }],
    [{ a: 1 }, { ab: 'x' }],
  ],
  [
    { additionalProperties: false, properties: { a: {} }, patternProperties: { '^p': {} } },
    [{ a: 1, p1: 1 }, []],
    [{ b: 1 }, parsed('{"__proto__":1}'), { constructor: 1 }],
  ],
  [
    { properties: { child: { $ref: '#' } }, additionalProperties: false },
    [{}, { child: { child: {} } }],
    [{ x: 1 }, { child: { child: { x: 1 } } }],
  ],
  [{ items: { $ref: '#/definitions/a~1b%25~0%22' }, definitions: { 'a/b%~"': { type: 'string' } } }, [['a']], [[1]]],
]
