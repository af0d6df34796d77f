import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseStrictJson } from '../../../../api/http/json-text.ts'

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`

test.for([
  '{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}',
  String.raw`{"a:b":"{\"a\":1,\"a\":2}","c":"\\"}`,
  String.raw`{"a":"\":\""}`,
  String.raw`{"a":"\u00e9\ud83d\ude00"}`,
  '{"__proto__":1,"constructor":2}',
  ' [1.5, -0, 1e308, true, null, "x"] ',
  '[0.1, 9007199254740992, 1.0, 10.50e-1, 1e16, 1E+2, 123456789012345680000, 5e-324, 0.00000000000000000000, 0e9999]',
  String.raw`{"12345678901234567890":"12345678901234567890 \"1e999"}`,
  nested(32),
])('J1: %s is parsed like JSON.parse', (text) => {
  expect(parseStrictJson(text)).toEqual({ ok: true, value: JSON.parse(text) })
})

test.for([
  ['duplicate keys', '{"amount":"1","amount":"999"}'],
  ['duplicate keys further down', '{"x":[{"y":{"a":1,"b":2,"a":3}}]}'],
  ['duplicate keys, one of them escaped', String.raw`{"a":1,"\u0061":2}`],
  ['a duplicate __proto__', '{"__proto__":1,"__proto__":2}'],
  ['nesting of 33', nested(33)],
  ['nesting of objects', `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`],
  ['nesting that would overflow a stack', nested(400_000)],
  ['NUL in a value', String.raw`{"a":"\u0000"}`],
  ['NUL in a key', String.raw`{"a\u0000":1}`],
  ['a lone high surrogate', String.raw`{"a":"\ud83d"}`],
  ['a lone low surrogate in a key', String.raw`{"\ude00":1}`],
  ['a number beyond the largest', '{"a":1e400}'],
  ['a number below the smallest', '{"a":1e-400}'],
  ['a number with too many digits', '{"a":12345678901234567890}'],
  ['a negative number with too many digits', '[-9007199254740993]'],
  ['a fraction with too many digits', '[0.1000000000000000055511151231257827]'],
  ['an exponent with too many digits', '[1234567890123456789e-5]'],
  ['trailing text', '{"a":1}x'],
  ['an unfinished string', '{"a":"b'],
  ['an unfinished escape', '{"a":"b\\'],
  ['a byte order mark', '\ufeff{}'],
  ['an empty text', ''],
] as const)('J1: %s is refused', ([, text]) => {
  expect(parseStrictJson(text).ok).toBe(false)
})

test('J1: nesting up to the limit is accepted, one level more is refused', () => {
  expect(parseStrictJson(nested(34), { maxDepth: 34 }).ok).toBe(true)
  expect(parseStrictJson(nested(35), { maxDepth: 34 })).toEqual({
    ok: false,
    error: { message: 'The JSON is nested deeper than 34 levels.', keys: [] },
  })
})

test('J3: brackets, colons and commas up to the limit are accepted, one more is refused', () => {
  for (const text of ['{"a":[1,2]}', '[[],{}]'])
    expect([parseStrictJson(text, { maxParts: 4 }).ok, parseStrictJson(text, { maxParts: 3 })]).toEqual([
      true,
      { ok: false, error: { message: 'The JSON has more than 3 brackets, colons and commas.', keys: [] } },
    ])
})

test('J3: brackets, colons and commas inside strings do not count', () => {
  expect(parseStrictJson(String.raw`{"a,:[{\"":"\",,,::[[{{"}`, { maxParts: 2 }).ok).toBe(true)
})

test('J3: the limit is checked before the text is parsed, so malformed text gets the same error', () => {
  expect(parseStrictJson('[,,,,', { maxParts: 3 })).toMatchObject({
    error: { message: expect.stringContaining('more than 3') as string },
  })
})

test.for([
  ['{"a":1,"b":{"c":[0,[1],{"d":"}","e":12345678901234567890}]}}', ['b', 'c', 2, 'e']],
  [String.raw`{"x":"\\\"",":\u0061,":[[1,2],[12345678901234567890]]}`, [':a,', 1, 0]],
  ['[[],{},12345678901234567890]', [2]],
  ['12345678901234567890', []],
] as const)('J1: the error has the path of the inexact number in %s', ([text, keys]) => {
  const message = 'the number 12345678901234567890 changes when it is read: send it as a string'
  expect(parseStrictJson(text)).toEqual({ ok: false, error: { message, keys } })
})

test('J1: an error shows the beginning of a long number', () => {
  const message = `the number ${'1'.repeat(40)}… changes when it is read: send it as a string`
  expect(parseStrictJson(`[${'1'.repeat(100_000)}]`)).toEqual({ ok: false, error: { message, keys: [0] } })
})

const LENGTH = 32_768
const long = (text: string) => text.repeat(LENGTH / text.length)
test.for([
  ['zeros within a fraction', `[0.1${long('0')}1]`],
  ['zeros within an integer', `[1${long('0')}1]`],
  ['zeros before a fraction', `[0.${long('0')}1]`],
  ['digits', `[0.${long('1')}]`],
  ['digits of an exponent', `[1e${long('1')}]`],
  ['numbers', `[${long('0.10,')}0]`],
  ['escapes', String.raw`["${long(String.raw`\"`)}"]`],
  ['names', `{${long('"a":1,')}"b":12345678901234567890}`],
  ['spaces', `[${long(' ')}1]`],
] as const)('the cost of parsing grows linearly with the length: %s', ([, text]) => {
  const costOf = (read: string): number => {
    const before = process.cpuUsage()
    for (let times = 0; times < 5; times += 1) parseStrictJson(read)
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  const plain = `["${long('x')}"]`
  costOf(plain)
  // Quadratic cost would be thousands of times as much.
  expect(costOf(text)).toBeLessThan(200 * costOf(plain) + 20_000)
})

test('J1: a number is accepted exactly if formatting it again gives the same number', () => {
  const digits = fc.stringMatching(/^-?(?:0|[1-9][0-9]{0,20})(?:\.[0-9]{1,20})?(?:e[+-]?[0-9]{1,2})?$/)
  fc.assert(
    fc.property(digits, (literal) => {
      const read = Number(literal)
      const same = Number.isFinite(read) && rational(literal) === rational(String(read))
      expect(parseStrictJson(`[${literal}]`).ok).toBe(same)
    }),
  )
})

/** The number times 10^150, exactly. */
function rational(literal: string): bigint {
  const [mantissa = '', exponent = '0'] = literal.split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const scale = 150 + Number(exponent) - fraction.length
  return BigInt(`${whole}${fraction}`) * 10n ** BigInt(scale)
}
