/** What both drafts say. */
import { parsed, parsedObject, type Row } from './keyword-table.ts'

export const TYPES: readonly Row[] = [
  [{ type: 'string' }, ['', 'a'], [1, null, true, [], {}]],
  [{ type: 'integer' }, [0, -1, 1.0, 1e20], [1.5, '1', null, 1e-3]],
  [{ type: 'number' }, [0, 1.5, 1e300], ['1', null, [1]]],
  [{ type: 'boolean' }, [true, false], [0, '', 'true', null]],
  [{ type: 'null' }, [null], [0, '', false, {}]],
  [{ type: 'array' }, [[], [1]], [{}, 'a', { length: 0 }]],
  [{ type: 'object' }, [{}, { a: 1 }], [[], 'a', null]],
  [{ type: ['string', 'null'] }, ['a', null], [1, [], false]],
  [{ const: { a: [1, null], b: 'c' } }, [{ b: 'c', a: [1, null] }], [{ a: [null, 1], b: 'c' }, { a: [1, null] }]],
  [{ const: 1 }, [1, 1.0], ['1', true, [1]]],
  [{ const: false }, [false], [0, null, '']],
  [{ const: null }, [null], [0, false, {}]],
  [{ enum: [1, 'a', null, { b: [] }] }, [1, 'a', null, { b: [] }], [2, 'b', false, { b: [1] }, {}]],
  [{ enum: [0] }, [0, parsed('-0')], [false, null, []]],
  [
    { const: parsed('{"constructor":1,"valueOf":2,"__proto__":3}') },
    [parsed('{"valueOf":2,"__proto__":3,"constructor":1}')],
    [{}],
  ],
]

export const NUMBERS: readonly Row[] = [
  [{ minimum: 1 }, [1, 2, 'a', null], [0, 0.999, -1]],
  [{ exclusiveMinimum: 1 }, [1.001, 2, 'a'], [1, 0]],
  [{ maximum: 1 }, [1, 0, 'a'], [1.001, 2]],
  [{ exclusiveMaximum: 1 }, [0.999, 'a'], [1, 2]],
  [{ multipleOf: 2 }, [0, 4, -2, 1e300, 'a'], [1, 3, 0.5]],
  [{ multipleOf: 0.01 }, [19.99, 0.07, 1.13, 4.35, 1e22, -3.3], [19.999, 0.001, 1e-7]],
  [{ multipleOf: 1.5 }, [0, 4.5], [35]],
  [{ multipleOf: 1e-8 }, [12391239123, 0.00000001], [0.000000001]],
  [{ multipleOf: 0.123456789 }, [0.123456789], [1e308]],
  [{ multipleOf: 5e-324 }, [5e-324, 1.7976931348623157e308, 0], []],
]

export const STRINGS: readonly Row[] = [
  [{ minLength: 2 }, ['ab', '💩💩', 1], ['a', '💩', '']],
  [{ maxLength: 2 }, ['ab', '💩💩', ''], ['abc', '💩💩💩']],
  [{ maxLength: 2.0, minLength: 1.0 }, ['ab'], ['', 'abc']],
  [{ pattern: '^a*$' }, ['', 'aaa', 1, null], ['b', 'ab', 'a\n']],
  [{ pattern: 'b' }, ['abc'], ['ac', '']],
]

export const ARRAYS: readonly Row[] = [
  [{ minItems: 1 }, [[1], 'a', {}], [[]]],
  [{ maxItems: 1 }, [[], [1], 'ab'], [[1, 2]]],
  [
    { uniqueItems: true },
    [[1, '1', true], [{ a: 1, b: 2 }, { a: 1 }], [], 'aa'],
    [
      [1, 1],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [[], []],
    ],
  ],
  [
    { uniqueItems: true },
    [[1, true, 0, false, null, 'null']],
    [
      [0, parsed('-0')],
      [1, 1.0],
    ],
  ],
  [{ uniqueItems: false }, [[1, 1]], []],
  [{ items: { type: 'string' } }, [[], ['a', 'b'], 1, { 0: 1 }], [['a', 1]]],
  [{ items: false }, [[], 1], [[1]]],
  [{ contains: { minimum: 5 } }, [[1, 5], 'a', {}], [[], [1, 2]]],
  [{ contains: false }, ['a'], [[], [1]]],
  [{ contains: true }, [[1]], [[]]],
]

export const OBJECTS: readonly Row[] = [
  [{ required: ['a'] }, [{ a: null }, [], 'a', 1], [{}, { b: 1 }]],
  [
    { required: ['toString', '__proto__', 'length'] },
    [parsed('{"toString":1,"__proto__":1,"length":1}')],
    [{}, { toString: 1 }],
  ],
  [{ required: ['a"b', "a'b", 'a\nb', 'a\\b'] }, [{ 'a"b': 1, "a'b": 1, 'a\nb': 1, 'a\\b': 1 }], [{ 'a"b': 1 }]],
  [{ required: [] }, [{}], []],
  [{ minProperties: 1 }, [{ a: 1 }, []], [{}]],
  [{ maxProperties: 1 }, [{}, { a: 1 }], [{ a: 1, b: 2 }]],
  [{ properties: { a: { type: 'string' } } }, [{}, { a: 'x' }, { b: 1 }, [], 1], [{ a: 1 }]],
  [{ properties: { a: false } }, [{}, { b: 1 }], [{ a: null }]],
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
  [{ additionalProperties: { type: 'string' } }, [{}, { a: 'x' }], [{ a: 1 }]],
  [{ propertyNames: { pattern: '^[a-z]+$' } }, [{}, { abc: 1 }, []], [{ A: 1 }, { a1: 1 }]],
  [{ propertyNames: false }, [{}], [{ a: 1 }]],
]

export const COMBINATIONS: readonly Row[] = [
  [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2, 'a'], [0, 3]],
  [{ anyOf: [{ type: 'string' }, { minimum: 5 }] }, ['a', 5, null], [4]],
  [{ oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, [2, 3, 4], [6, 1, 'a']],
  [{ not: { type: 'string' } }, [1, null], ['a']],
  [{ not: {} }, [], [1, null, {}]],
  [{ not: { not: { type: 'string' } } }, ['a'], [1]],
  [parsedObject('{"if":{"type":"string"},"then":{"minLength":2},"else":{"minimum":5}}'), ['ab', 5, null], ['a', 4]],
  [parsedObject('{"if":{"type":"string"},"then":{"minLength":2}}'), ['ab', 1], ['a']],
  [{ if: { type: 'string' }, else: { minimum: 5 } }, ['a', 5], [4]],
  [parsedObject('{"then":{"minLength":2},"else":false}'), ['a', 1], []],
  [{ $ref: '#/definitions/a', definitions: { a: { type: 'string' } } }, ['a'], [1]],
  [
    { properties: { child: { $ref: '#' } }, additionalProperties: false },
    [{}, { child: { child: {} } }],
    [{ x: 1 }, { child: { child: { x: 1 } } }],
  ],
  [{ items: { $ref: '#/definitions/a~1b%25~0%22' }, definitions: { 'a/b%~"': { type: 'string' } } }, [['a']], [[1]]],
]

export const FORMATS: readonly Row[] = [
  [
    { format: 'date-time' },
    ['2026-01-31T23:59:59Z', '2026-01-31t00:00:00.123+05:30', '1998-12-31T23:59:60Z', 1],
    [
      '2026-01-31',
      '2026-01-31 00:00:00Z',
      '2026-02-30T00:00:00Z',
      '2026-01-31T00:00:00',
      '2026-01-31T24:00:00Z',
      '2026-01-31T00:00:60Z',
      '2026-01-31T00:00:00+05',
    ],
  ],
  [
    { format: 'date' },
    ['2024-02-29', '0000-01-01'],
    ['2023-02-29', '2024-2-9', '2024-13-01', '24-01-01', '2024-01-32', '2024-00-10'],
  ],
  [
    { format: 'time' },
    ['10:05:08Z', '10:05:08.5+01:00', '23:59:60Z', '01:29:60+01:30', '15:59:60-08:00'],
    [
      '10:05:08',
      '24:00:00Z',
      '10:60:00Z',
      '22:59:60Z',
      '15:59:60+08:00',
      '10:05:08+1:00',
      '10:05:08+24:00',
      '1:05:08Z',
    ],
  ],
  [{ format: 'email' }, ['a@b.example', 'a.b+c@d.example'], ['a', '@b.example', 'a@', `${'a'.repeat(640)}@b.example`]],
  [{ format: 'idn-email' }, ['実例@実例.example', 'a@b.example'], ['実例', '@実例.example']],
  [
    { format: 'hostname' },
    ['example', 'a-b.example', 'x'.repeat(63)],
    ['-a.example', 'a_b', 'a..b', '', 'x'.repeat(64), 'a.', `${'x.'.repeat(127)}x`],
  ],
  [{ format: 'idn-hostname' }, ['例え.テスト', 'example'], ['-a', '〮한국', '']],
  [{ format: 'ipv4' }, ['127.0.0.1', '255.255.255.255'], ['256.0.0.1', '1.2.3', '01.2.3.4', '0x7f.0.0.1']],
  [
    { format: 'ipv6' },
    ['::1', '2001:db8::ff00:42:8329', '::ffff:1.2.3.4'],
    ['12345::', ':2:3::', 'fe80::1%eth0', '1::2::3', '127.0.0.1'],
  ],
  [
    { format: 'uri' },
    ['https://a.example/b?c#d', 'urn:isbn:0451450523', 'data:image/svg+xml;base64,PHN2Zz4='],
    ['//a.example', '/b', 'a b', 'https://a.example/ö', 'a'],
  ],
  [{ format: 'uri-reference' }, ['https://a.example', '/b', '#c', 'b'], ['\\\\a', '#a\\b', 'ö']],
  [
    { format: 'iri' },
    ['https://ƒøø.example/ö?ß', 'https://a.example'],
    ['/ö', 'https://a.example/\\', 'https://a.example/\u{e000}'],
  ],
  [{ format: 'iri-reference' }, ['/ö', '#ß'], ['\\\\ö', '#a\\b']],
  [{ format: 'uri-template' }, ['https://a.example/{b}{?c,d*}', ''], ['https://a.example/{b', '{b c}']],
  [{ format: 'json-pointer' }, ['', '/a/~0~1/0', '/'], ['a', '/~', '/~2']],
  [{ format: 'relative-json-pointer' }, ['0', '1/a', '0#', '120/~1'], ['/a', '-1/a', '01/a', '0##']],
  [
    { format: 'regex' },
    ['^(a|b)+$', '(?=a)b', '(a)\\1', '[^\\d]', '\\p{L}'],
    ['^(a', 'a**', '[z-a]', '\\1', '(?i)a', '\\Z'],
  ],
  [{ format: 'no-such-format' }, ['anything', 1], []],
]
