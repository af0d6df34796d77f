/** A pattern means for RE2 what it means in ECMA-262, or is refused (X1, X2). */
import { RE2JS } from 're2js'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readPattern } from '../../../infra/schema/pattern-reader.ts'

function matches(source: string, text: string): boolean {
  const reading = readPattern(source)
  if (reading.kind !== 'linear') throw new Error(`${source} is ${reading.kind}`)
  return RE2JS.compile(reading.re2).test(text)
}

/** Splits at blanks. */
function listed(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}

const SAMPLES = [
  ...listed('a b ab aab abc A 0 9 _ - a-b aaa [ ] \\ / . {} é É 💩 Ω я 中 ٣ ² € K ſ a.b ^ $'),
  ...Array.from('\n\r\t\v\f\b\0 \u00a0\u2028\u2029\u3000\ufeff\u180e\u200b\u{10ffff}\u00ff\u007f\ud83d'),
  '',
  'a b',
  'a\nb',
  'ab\n',
]

const PATTERNS = [
  '',
  ...listed(String.raw`
  a ^a$ a|b (a)(b)? (?:ab)+ a*?b a{2} a{2,} a{0,2}b ^a{02}$ ^a{2,03}?$ ^$ (?<name>a)b a?? a{1}?
  . ^.$ \d \D \w \W \s \S ^\s$ ^\S$ [\s] [^\s] [\S] [^\S] [\d\s]
  [a-c] [^a-c] [-a] [a-] [\w-] [] [^] [[] [\]] [.] [$^] [\b] [\-] [\W\d]
  \n \r \t \v \f \0 \cJ \x41 \u0041 \u{1F4A9} \ud83d\udca9 \u{10ffff}
  \. \/ \[ \\ \{\} \^ \$ \| \(\) \* \bab b\b \Ba a\B é 💩
  \p{L} \P{L} \p{Lu} \p{Letter} \p{Uppercase_Letter} \p{gc=Nd} \p{General_Category=Decimal_Number}
  \p{Script=Greek} \p{sc=Cyrillic} \p{Any} \P{Any} \p{ASCII} \P{ASCII} [\p{L}\d] [^\p{L}] [\P{L}]
`),
]

describe('a pattern matches what it matches in JavaScript', () => {
  test.for(PATTERNS)('%j', (source) => {
    const native = new RegExp(source, 'u')
    const wrong = SAMPLES.filter((text) => matches(source, text) !== native.test(text))
    expect(wrong).toEqual([])
  })

  test('also when pattern and text are random', () => {
    // A group name must be unique, and alternatives and assertions cannot be repeated.
    const atom = fc.constantFrom(...PATTERNS.filter((text) => text !== '' && !/\||^\^|\$$|\?</.test(text)))
    const source = fc
      .array(fc.tuple(atom, fc.constantFrom('', '*', '+', '?', '{1,2}')), { maxLength: 4 })
      .map((parts) => parts.map(([text, quantifier]) => `(?:${text})${quantifier}`).join(''))
    const text = fc.array(fc.constantFrom(...SAMPLES), { maxLength: 5 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.boolean(), source, text, (anchored, inner, sample) => {
        const whole = anchored ? `^(?:${inner})$` : inner
        expect(matches(whole, sample)).toBe(new RegExp(whole, 'u').test(sample))
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('X2: needless escapes of punctuation are accepted', () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ['^\\d{3}\\-\\d{4}$', '123-4567', '1234567'],
    ['^\\"\\\'\\#\\%\\&\\,\\:\\;\\<\\=\\>\\!\\`\\~$', '"\'#%&,:;<=>!`~', '"'],
  ]
  test.for(rows)('%j', ([source, match, other]) => {
    expect(matches(source, match)).toBe(true)
    expect(matches(source, other)).toBe(false)
  })
})

describe('malformed patterns', () => {
  const malformed = listed(String.raw`
    ( ) (? (a a) [ [a [z-a] [\d-a] [a-\d] ] { } a{ a{,5} a{2,1} * +a ?
    a** a{2}{3} ^* (?i)a (?P<n>a) (?<>a) (?<n>a)(?<n>b) \ \a \z \A \Q \_ \1 (a)\2
    \k<n> \x4 \u004 \u{110000} \u{} \c1 \01 \p \p{ \p{L \p{Nope=L} \p{gc=Nope} (?=a)*
  `)
  test.for(malformed)('%j', (source) => {
    expect(readPattern(source)).toEqual({ kind: 'malformed' })
  })

  test('JavaScript rejects them too', () => {
    const accepted = malformed.filter((source) => {
      try {
        return new RegExp(source, 'u') instanceof RegExp
      } catch {
        return false
      }
    })
    expect(accepted).toEqual([])
  })
})

describe('patterns that RE2 cannot run', () => {
  const rows = listed(
    String.raw`(?=a)b (?!a)b (?<=a)b (?<!a)b (a)\1 (?<n>a)\k<n> a{1001} a{2,1001} \p{Emoji} \p{scx=Greek}`,
  )
  test.for(rows)('%j', (source) => {
    expect(readPattern(source)).toEqual({ kind: 'not_linear' })
    expect(new RegExp(source, 'u')).toBeInstanceOf(RegExp)
  })
})

describe('cost', () => {
  test.for([
    ['a{1000}', 1_000],
    ['(a{30}){30}', 900],
    ['((ab){20}|c){30}', 1_200],
    ['a'.repeat(500), 500],
  ] as const)('of %s is close to the size of the RE2 program', ([source, instructions]) => {
    const reading = readPattern(source)
    expect(reading.kind).toBe('linear')
    const cost = reading.kind === 'linear' ? reading.cost : 0
    expect(cost).toBeGreaterThanOrEqual(instructions)
    expect(cost).toBeLessThan(3 * instructions)
  })

  test('is never far below the size of the program', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', '(', ')', '|', '*', '{3}', '{2,9}', '[ab]', '.'), { maxLength: 24 }),
        (parts) => {
          const reading = readPattern(parts.join(''))
          if (reading.kind !== 'linear') return
          const size = sizeOf(reading.re2)
          expect(size).toBeLessThanOrEqual(4 * reading.cost + 8)
        },
      ),
      { numRuns: 3_000 },
    )
  })

  test('is known for a pattern that is too large to write out', () => {
    const nested = '('.repeat(40) + 'a' + '){900}'.repeat(40)
    const reading = readPattern(nested)
    expect(reading.kind === 'linear' && reading.cost > 1e8).toBe(true)
  })
})

test('every text is read, and RE2 accepts each linear pattern unless it is too large', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[ab()|*+?{}0-9,[\]\\dwsbpLu^$.-]*$/)),
      (source) => {
        const reading = readPattern(source)
        expect(['linear', 'not_linear', 'malformed']).toContain(reading.kind)
        expect(reading.kind !== 'linear' || sizeOf(reading.re2) > 0).toBe(true)
      },
    ),
    { numRuns: 5_000 },
  )
})

/** 1: too large for RE2. */
function sizeOf(re2: string): number {
  try {
    return RE2JS.compile(re2).programSize()
  } catch (error) {
    if (error instanceof Error && /invalid repeat count|too large|nests too deeply/.test(error.message)) return 1
    throw error
  }
}
