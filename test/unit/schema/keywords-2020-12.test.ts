/** What the keywords of JSON Schema 2020-12 mean: values that satisfy each, and values that do not. */
import { keywordTable, parsed, parsedObject, type Row } from './keyword-table.ts'
import { COMMON, OURS } from './keywords-common.ts'

const ONLY_HERE: readonly Row[] = [
  [{ prefixItems: [{ type: 'string' }, { type: 'number' }] }, [['a', 1], ['a'], [], ['a', 1, {}]], [[1], ['a', 'b']]],
  [{ prefixItems: [{ type: 'string' }], items: { type: 'number' } }, [['a', 1, 2], ['a']], [['a', 'b'], [1]]],
  [{ contains: { const: 1 }, minContains: 2 }, [[1, 1], [1, 2, 1], {}], [[1], [], [2, 2]]],
  [{ contains: { const: 1 }, maxContains: 1 }, [[1], [1, 2]], [[1, 1], []]],
  [{ contains: { const: 1 }, minContains: 0 }, [[], [2]], []],
  [{ contains: { const: 1 }, minContains: 0, maxContains: 1 }, [[], [1]], [[1, 1]]],
  [{ contains: { const: 1 }, minContains: 3, maxContains: 1 }, [], [[], [1, 1]]],
  [{ minContains: 2, maxContains: 1 }, [[], [1]], []],
  [{ dependentRequired: { a: ['b', 'c'] } }, [{}, { b: 1 }, { a: 1, b: 1, c: 1 }, []], [{ a: 1 }, { a: 1, b: 1 }]],
  [{ dependentRequired: { toString: ['b'] } }, [{}], [{ toString: 1 }]],
  [{ dependentSchemas: { a: { minProperties: 2 } } }, [{}, { b: 1 }, { a: 1, b: 1 }], [{ a: 1 }]],
  [{ dependencies: { a: ['b'] } }, [{ a: 1 }], []],
  [{ $ref: '#/$defs/a', $defs: { a: { type: 'string' } }, minLength: 2 }, ['ab'], ['a', 1]],
  [{ $ref: '#a', $defs: { x: { $anchor: 'a', type: 'string' } } }, ['a'], [1]],
  [{ nullable: true, type: 'string' }, ['a'], [null]],
  [
    { discriminator: { propertyName: 'a' }, oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    [{ a: 1 }],
    [{ a: 1, b: 1 }],
  ],
  [
    { id: 1, formatMinimum: '2020', coerce: true, default: 'a', title: 'x', examples: [1], readOnly: true },
    [1, null],
    [],
  ],
  [{ contentEncoding: 'base64', contentMediaType: 'application/json', contentSchema: false }, ['%', 1], []],
]

/** What is left over when everything else has looked: Core, 11. */
const UNEVALUATED: readonly Row[] = [
  [{ properties: { a: {} }, unevaluatedProperties: false }, [{ a: 1 }, [], 1], [{ b: 1 }]],
  [{ unevaluatedProperties: { type: 'string' } }, [{ a: 'x' }], [{ a: 1 }]],
  [{ allOf: [{ properties: { a: {} } }], unevaluatedProperties: false }, [{ a: 1 }], [{ a: 1, b: 1 }]],
  [
    {
      anyOf: [{ properties: { a: { const: 1 } } }, { properties: { b: { const: 1 } }, required: ['b'] }],
      unevaluatedProperties: false,
    },
    [{ a: 1 }, { a: 1, b: 1 }],
    [{ b: 2 }, { a: 2, b: 1 }],
  ],
  [
    {
      oneOf: [
        { properties: { a: {} }, required: ['a'] },
        { properties: { b: {} }, required: ['b'] },
      ],
      unevaluatedProperties: false,
    },
    [{ a: 1 }, { b: 1 }],
    [{ a: 1, c: 1 }],
  ],
  [{ not: { properties: { a: {} }, required: ['b'] }, unevaluatedProperties: false }, [{}], [{ a: 1 }]],
  [
    { if: { properties: { a: { const: 1 } }, required: ['a'] }, unevaluatedProperties: false },
    [{ a: 1 }],
    [{ a: 2 }, { b: 1 }],
  ],
  [
    parsedObject(`{
      "if": { "properties": { "a": { "const": 1 } }, "required": ["a"] },
      "then": { "properties": { "b": {} } },
      "else": { "properties": { "c": {} } },
      "unevaluatedProperties": false
    }`),
    [{ a: 1, b: 1 }, { c: 1 }],
    [{ a: 1, c: 1 }, { a: 2, c: 1 }, { b: 1 }],
  ],
  [
    { dependentSchemas: { a: { properties: { a: {}, b: {} } } }, unevaluatedProperties: false },
    [{ a: 1, b: 1 }],
    [{ b: 1 }],
  ],
  [{ patternProperties: { '^x': {} }, unevaluatedProperties: false }, [{ x1: 1 }], [{ y: 1 }]],
  [{ allOf: [{ additionalProperties: true }], unevaluatedProperties: false }, [{ a: 1 }], []],
  [
    { $ref: '#/$defs/a', $defs: { a: { properties: { a: {} } } }, unevaluatedProperties: false },
    [{ a: 1 }],
    [{ b: 1 }],
  ],
  [{ allOf: [{ unevaluatedProperties: true }], unevaluatedProperties: false }, [{ a: 1 }], []],
  [
    { anyOf: [{ patternProperties: { '^x': {} } }], unevaluatedProperties: false },
    [{ x: 1 }],
    [{ constructor: 1 }, { toString: 1 }, parsed('{"__proto__":1}')],
  ],
  [
    { properties: { a: { properties: { b: {} }, unevaluatedProperties: false } } },
    [{ a: { b: 1 }, c: 1 }],
    [{ a: { c: 1 } }],
  ],
  [
    { properties: { child: { $ref: '#' } }, unevaluatedProperties: false },
    [{ child: { child: {} } }],
    [{ child: { child: { x: 1 } } }],
  ],
  [{ prefixItems: [{}], unevaluatedItems: false }, [[1], [], {}], [[1, 2]]],
  [{ items: {}, unevaluatedItems: false }, [[1, 2]], []],
  [{ unevaluatedItems: { type: 'string' } }, [['a']], [[1]]],
  [{ allOf: [{ prefixItems: [{}] }, { prefixItems: [{}, {}] }], unevaluatedItems: false }, [[1, 2]], [[1, 2, 3]]],
  [
    { anyOf: [{ items: { type: 'string' } }, true], unevaluatedItems: { type: 'boolean' } },
    [
      ['a', 'b'],
      [true, false],
    ],
    [
      ['a', true],
      ['a', 1],
    ],
  ],
  [
    { contains: { type: 'string' }, prefixItems: [{}], unevaluatedItems: false },
    [
      [1, 'a'],
      ['a', 'b'],
    ],
    [[1, 'a', 2]],
  ],
  [
    { allOf: [{ contains: { multipleOf: 2 } }, { contains: { multipleOf: 3 } }], unevaluatedItems: { multipleOf: 5 } },
    [[2, 3, 5, 6]],
    [[2, 3, 7]],
  ],
  [{ contains: { const: 'a' }, minContains: 0, unevaluatedItems: false }, [[], ['a']], [['b']]],
  [
    parsedObject('{"if":{"contains":{"const":"a"}},"then":{"contains":{"const":"b"}},"unevaluatedItems":false}'),
    [['a', 'b'], []],
    [['a', 'b', 'c'], ['b']],
  ],
]

keywordTable('2020-12: what both drafts have', COMMON)
keywordTable('2020-12: what is answered here', OURS)
keywordTable('2020-12: what draft-07 has not', ONLY_HERE)
keywordTable('2020-12: what is left over', UNEVALUATED)
keywordTable('2020-12: named as such', COMMON.slice(0, 1), { $schema: 'https://json-schema.org/draft/2020-12/schema#' })
