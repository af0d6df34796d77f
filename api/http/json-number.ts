/**
 * Numbers of a JSON text. A double holds 15 decimal digits of any number, and more of some. A longer number may change
 * when it is parsed.
 */

/** Decimal digits that a double always preserves (IEEE 754: DBL_DIG). */
const SAFE_DIGITS = 15
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const PARTS = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
const QUOTE = 34
const BACKSLASH = 92

/** The number literal at this index of the text. */
export function numberAt(text: string, index: number): string {
  NUMBER.lastIndex = index
  return NUMBER.exec(text)?.[0] ?? text.charAt(index)
}

/** Whether parsing preserves the literal's value. */
export function isExact(literal: string): boolean {
  if (literal.length <= SAFE_DIGITS && !/[eE]/.test(literal)) return true
  const number = Number(literal)
  return Number.isFinite(number) && decimalOf(literal) === decimalOf(String(number))
}

/** Significant digits and exponent: a canonical text for each number, without its sign. */
function decimalOf(literal: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = PARTS.exec(literal) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = withoutTrailingZeros(digits)
  if (significant === '') return '0'
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}

/** A loop, since a regular expression anchored only at the end takes quadratic time. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length
  while (digits.charAt(end - 1) === '0') end -= 1
  return digits.slice(0, end)
}

/** The path (object keys and array indexes) to the value at this index of a well-formed JSON text. */
export function keysTo(text: string, index: number): readonly (string | number)[] {
  const keys: (string | number)[] = []
  let name = ''
  for (let at = 0; at < index; at += 1) {
    switch (text.charAt(at)) {
      case '"':
        name = text.slice(at, endOfString(text, at + 1) + 1)
        at += name.length - 1
        break
      case ':':
        keys[keys.length - 1] = JSON.parse(name) as string
        break
      case '{':
        keys.push('')
        break
      case '[':
        keys.push(0)
        break
      case ',': {
        const last = keys.at(-1)
        if (typeof last === 'number') keys[keys.length - 1] = last + 1
        break
      }
      case '}':
      case ']':
        keys.pop()
        break
      default:
    }
  }
  return keys
}

/** The end of the string that begins at `start`: its closing quote, or the end of the text. */
export function endOfString(text: string, start: number): number {
  for (let index = start; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) return index
    if (code === BACKSLASH) index += 1
  }
  return text.length
}
