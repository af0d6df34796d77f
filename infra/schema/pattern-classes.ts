/** Classes of characters as ECMA-262 means them, written for RE2. */

/** From and to, code points; or a class that RE2 has by itself. */
export type Ranges = readonly (readonly [number, number] | string)[]

const DIGITS: Ranges = [[0x30, 0x39]]
const WORD: Ranges = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
]
/** ECMA-262, WhiteSpace and LineTerminator; RE2's own is ASCII only. */
const SPACE: Ranges = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x16_80, 0x16_80],
  [0x20_00, 0x20_0a],
  [0x20_28, 0x20_29],
  [0x20_2f, 0x20_2f],
  [0x20_5f, 0x20_5f],
  [0x30_00, 0x30_00],
  [0xfe_ff, 0xfe_ff],
]
const LAST = 0x10_ffff

/** What a full stop matches. */
export const NOT_LINE_END = '[^\\x{a}\\x{d}\\x{2028}\\x{2029}]'

const ESCAPES: ReadonlyMap<string, Ranges> = new Map([
  ['d', DIGITS],
  ['D', allBut(DIGITS)],
  ['w', WORD],
  ['W', allBut(WORD)],
  ['s', SPACE],
  ['S', allBut(SPACE)],
])

/** General categories by their long names (UCD, PropertyValueAliases.txt). */
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

export function classEscape(letter: string): Ranges | undefined {
  return ESCAPES.get(letter)
}

/** `\p{name}`, or `\P{name}` where it is negated. */
export function propertyClass(name: string, negated: boolean): Ranges | 'unknown' | 'not_known_to_re2' {
  const [property = '', value] = name.split('=')
  const mark = negated ? '\\P' : '\\p'
  if (value === undefined) {
    if (property === 'Any') return negated ? [] : [[0, LAST]]
    if (property === 'ASCII') return negated ? [[0x80, LAST]] : [[0, 0x7f]]
    const category = CATEGORIES.get(property)
    // All that is left are properties such as Emoji, of which RE2 has none.
    return category === undefined ? 'not_known_to_re2' : [`${mark}{${category}}`]
  }
  if (property === 'General_Category' || property === 'gc') {
    const category = CATEGORIES.get(value)
    return category === undefined ? 'unknown' : [`${mark}{${category}}`]
  }
  if (property === 'Script' || property === 'sc') return [`${mark}{${value}}`]
  return property === 'Script_Extensions' || property === 'scx' ? 'not_known_to_re2' : 'unknown'
}

export function classText(ranges: Ranges, negated: boolean): string {
  // RE2 has no empty class.
  if (ranges.length === 0) return classText([[0, LAST]], !negated)
  return `[${negated ? '^' : ''}${ranges.map(rangeText).join('')}]`
}

function rangeText(range: Ranges[number]): string {
  return typeof range === 'string' ? range : `\\x{${range[0].toString(16)}}-\\x{${range[1].toString(16)}}`
}

function allBut(ranges: Ranges): Ranges {
  const others: (readonly [number, number])[] = []
  let next = 0
  for (const range of ranges) {
    if (typeof range === 'string') continue
    if (range[0] > next) others.push([next, range[0] - 1])
    next = range[1] + 1
  }
  return [...others, [next, LAST]]
}
