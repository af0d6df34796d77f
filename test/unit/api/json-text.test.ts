import { describe, expect, test } from 'vitest'
import { parseStrictJson } from '../../../api/json-text.ts'

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`

describe('JSON as a money order may be written', () => {
  test.for([
    '{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}',
    String.raw`{"a:b":"{\"a\":1,\"a\":2}","c":"\\"}`,
    String.raw`{"a":"\":\""}`,
    String.raw`{"a":"\u00e9\ud83d\ude00"}`,
    '{"__proto__":1,"constructor":2}',
    ' [1.5, -0, 1e308, true, null, "x"] ',
    nested(32),
  ])('J1: %s is read as it stands', (text) => {
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
    ['trailing text', '{"a":1}x'],
    ['an unfinished string', '{"a":"b'],
    ['an unfinished escape', '{"a":"b\\'],
    ['a byte order mark', '\ufeff{}'],
    ['nothing', ''],
  ] as const)('J1: %s is refused', ([, text]) => {
    expect(parseStrictJson(text).ok).toBe(false)
  })

  test('J1: as deep as is allowed is read, one deeper is refused', () => {
    const unbounded = Number.POSITIVE_INFINITY
    expect(parseStrictJson(nested(34), unbounded, 34).ok).toBe(true)
    expect(parseStrictJson(nested(35), unbounded, 34)).toEqual({
      ok: false,
      error: 'The JSON is nested deeper than 34 levels.',
    })
  })

  test('J3: as many brackets, colons and commas as are allowed are read, one more is refused', () => {
    for (const text of ['{"a":[1,2]}', '[[],{}]'])
      expect([parseStrictJson(text, 4).ok, parseStrictJson(text, 3)]).toEqual([
        true,
        { ok: false, error: 'The JSON has more than 3 brackets, colons and commas.' },
      ])
  })

  test('J3: what stands inside strings is not counted', () => {
    expect(parseStrictJson(String.raw`{"a,:[{\"":"\",,,::[[{{"}`, 2).ok).toBe(true)
  })

  test('J3: the text is refused before it is parsed, well formed or not', () => {
    expect(parseStrictJson('[,,,,', 3)).toMatchObject({ error: expect.stringContaining('more than 3') as string })
  })
})
