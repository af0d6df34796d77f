/**
 * Translates a regular expression of JSON Schema (ECMA-262 with the flag `u`) into RE2 syntax with the same meaning.
 *   X1. JavaScript's engine never compiles or runs a pattern: it may backtrack without bound.
 *   X2. Escapes of punctuation that the flag `u` forbids are accepted: published schemas are full of them.
 */
import { type AST, RegExpParser, RegExpSyntaxError, RegExpValidator } from '@eslint-community/regexpp'

export type PatternReading =
  /** `cost`: approximate number of RE2 instructions, with repetitions written out. */
  | { readonly kind: 'linear'; readonly re2: string; readonly cost: number }
  /** A regular expression that RE2 cannot run. */
  | { readonly kind: 'not_linear' }
  | { readonly kind: 'malformed' }

/** The most repetitions that RE2 accepts. */
const MAX_REPEATS = 1_000
const MAX_COST = 1_000_000_000
const OPTIONS = { ecmaVersion: 2024 } as const
const PARSER = new RegExpParser(OPTIONS)
const VALIDATOR = new RegExpValidator(OPTIONS)
const NEEDLESS_ESCAPE = /\\([^0-9A-Za-z_^$\\.*+?()[\]{}|/])/u

/** ECMA-262, WhiteSpace and LineTerminator. RE2's `\s` is ASCII only. */
const SPACE =
  '\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}-\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'
const NOT_SPACE =
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}' +
  '\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}'
const NOT_LINE_END = '[^\\x{a}\\x{d}\\x{2028}\\x{2029}]'
const ANY = '\\x{0}-\\x{10ffff}'

/** Long names of the general categories (UCD, PropertyValueAliases.txt): RE2JS has the short ones only. */
const CATEGORIES: ReadonlyMap<string, string> = new Map(
  [
    'L Letter, Lu Uppercase_Letter, Ll Lowercase_Letter, Lt Titlecase_Letter, Lm Modifier_Letter, Lo Other_Letter',
    'M Mark, M Combining_Mark, Mn Nonspacing_Mark, Mc Spacing_Mark, Me Enclosing_Mark',
    'N Number, Nd Decimal_Number, Nd digit, Nl Letter_Number, No Other_Number',
    'P Punctuation, P punct, Pc Connector_Punctuation, Pd Dash_Punctuation, Ps Open_Punctuation',
    'Pe Close_Punctuation, Pi Initial_Punctuation, Pf Final_Punctuation, Po Other_Punctuation',
    'S Symbol, Sm Math_Symbol, Sc Currency_Symbol, Sk Modifier_Symbol, So Other_Symbol',
    'Z Separator, Zs Space_Separator, Zl Line_Separator, Zp Paragraph_Separator',
    'C Other, Cc Control, Cc cntrl, Cf Format, Cs Surrogate, Co Private_Use, Cn Unassigned',
  ].flatMap((line) =>
    line.split(', ').flatMap((pair): [string, string][] => {
      const [short = '', long = ''] = pair.split(' ')
      return [
        [long, short],
        [short, short],
      ]
    }),
  ),
)

class NotLinear extends Error {}

export function readPattern(source: string): PatternReading {
  const text = withoutNeedlessEscapes(source)
  try {
    const pattern = PARSER.parsePattern(text, 0, text.length, { unicode: true })
    const { re2, cost } = translateAlternatives(pattern.alternatives)
    return { kind: 'linear', re2, cost: cost + 1 }
  } catch (error) {
    if (error instanceof RegExpSyntaxError) return { kind: 'malformed' }
    // RangeError: nested too deeply for the stack.
    if (error instanceof NotLinear || error instanceof RangeError) return { kind: 'not_linear' }
    throw error
  }
}

/** Takes linear time, unlike the parser, which compares every back reference with every group. */
export function isPattern(source: string): boolean {
  const text = withoutNeedlessEscapes(source)
  try {
    VALIDATOR.validatePattern(text, 0, text.length, { unicode: true })
    return true
  } catch (error) {
    // RangeError: nested too deeply for the stack.
    if (error instanceof RegExpSyntaxError || error instanceof RangeError) return false
    throw error
  }
}

function withoutNeedlessEscapes(source: string): string {
  return source.replace(/\\./gsu, (escape) => {
    const [, character] = NEEDLESS_ESCAPE.exec(escape) ?? []
    return character === undefined ? escape : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
  })
}

interface Translation {
  readonly re2: string
  readonly cost: number
}

function translateAlternatives(alternatives: readonly AST.Alternative[]): Translation {
  const translations = alternatives.map(({ elements }) => {
    const parts = elements.map(translate)
    return { re2: parts.map(({ re2 }) => re2).join(''), cost: totalCost(parts) }
  })
  const re2 = translations.map((one) => one.re2).join('|')
  return { re2, cost: totalCost(translations) + alternatives.length - 1 }
}

function totalCost(parts: readonly Translation[]): number {
  return Math.min(
    parts.reduce((sum, { cost }) => sum + cost, 0),
    MAX_COST,
  )
}

function translate(node: AST.Element): Translation {
  switch (node.type) {
    case 'Quantifier':
      return translateQuantifier(node)
    case 'Group':
    case 'CapturingGroup': {
      // Captures are never used, only whether the pattern matches.
      const { re2, cost } = translateAlternatives(node.alternatives)
      return { re2: `(?:${re2})`, cost: cost + 1 }
    }
    case 'Assertion':
      if (node.kind === 'lookahead' || node.kind === 'lookbehind') throw new NotLinear()
      return { re2: node.raw, cost: 1 }
    case 'Character':
      return { re2: codePoint(node), cost: 1 }
    case 'CharacterSet':
      return { re2: node.kind === 'any' ? NOT_LINE_END : classOf([node], false), cost: 1 }
    case 'CharacterClass':
      return { re2: classOf(node.elements, node.negate), cost: 1 }
    case 'Backreference':
    case 'ExpressionCharacterClass':
      throw new NotLinear()
  }
}

function translateQuantifier(node: AST.Quantifier): Translation {
  const { re2, cost } = translate(node.element)
  const quantifier = node.raw.slice(node.element.raw.length)
  if (!quantifier.startsWith('{')) return { re2: re2 + quantifier, cost }
  const { min, max, greedy } = node
  const repeats = max === Number.POSITIVE_INFINITY ? min : max
  if (repeats > MAX_REPEATS) throw new NotLinear()
  // Written anew: RE2 reads a number with a leading zero as text.
  const range = max === min ? `${min}` : `${min},${max === Number.POSITIVE_INFINITY ? '' : max}`
  return { re2: `${re2}{${range}}${greedy ? '' : '?'}`, cost: Math.min(cost * (repeats + 1), MAX_COST) }
}

function codePoint({ value }: AST.Character): string {
  return `\\x{${value.toString(16)}}`
}

function classOf(elements: AST.CharacterClass['elements'], negated: boolean): string {
  const members = elements.map(classMember).join('')
  // RE2 has no empty class.
  return members === '' ? classText(ANY, !negated) : classText(members, negated)
}

function classText(members: string, negated: boolean): string {
  return `[${negated ? '^' : ''}${members}]`
}

function classMember(node: AST.CharacterClass['elements'][number]): string {
  switch (node.type) {
    case 'Character':
      return codePoint(node)
    case 'CharacterClassRange':
      return `${codePoint(node.min)}-${codePoint(node.max)}`
    case 'CharacterSet':
      if (node.kind === 'property') return property(node)
      if (node.kind === 'space') return node.negate ? NOT_SPACE : SPACE
      return node.raw
    default:
      // Classes of the flag `v`, which is off.
      throw new NotLinear()
  }
}

function property({ key, value, negate }: AST.UnicodePropertyCharacterSet): string {
  if (key === 'Any') return negate ? '' : ANY
  if (key === 'ASCII') return negate ? '\\x{80}-\\x{10ffff}' : '\\x{0}-\\x{7f}'
  const isScript = key === 'Script' || key === 'sc'
  const isCategory = key === 'General_Category' || key === 'gc'
  const name = isScript ? value : isCategory ? CATEGORIES.get(value ?? '') : undefined
  // RE2 has no other property, such as Emoji.
  if (name === undefined || name === null) throw new NotLinear()
  return `\\${negate ? 'P' : 'p'}{${name}}`
}
