/**
 * Reads a regular expression as JSON Schema writes them (ECMA-262 with the flag `u`) and writes it anew for RE2, so that
 * it means the same there: what RE2 would read otherwise, or not at all, is spelled out.
 *   X1. No pattern is ever run, or compiled, by the engine of JavaScript.
 *   X2. Escapes of punctuation that `u` does not allow are read as the character: patterns in use are full of them.
 *   X3. Reading takes one pass.
 */
import { classEscape, classText, NOT_LINE_END, propertyClass, type Ranges } from './pattern-classes.ts'

export type PatternReading =
  /** `cost`: about how many instructions it has for RE2, with repetitions written out. */
  | { readonly kind: 'linear'; readonly re2: string; readonly cost: number }
  /** A regular expression, but not one that can be run in linear time. */
  | { readonly kind: 'not_linear' }
  | { readonly kind: 'malformed' }

/** What RE2 repeats at most. */
const MAX_REPEATS = 1_000
/** Costs do not grow beyond. */
const MAX_COST = 1_000_000_000

const QUANTIFIER = /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})/
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 }

/** One alternative of one group, as far as it was read. */
interface Open {
  readonly parts: string[]
  cost: number
  /** A look-around, which no quantifier may follow. */
  readonly assertion: boolean
}

class Malformed extends Error {}

export function readPattern(source: string): PatternReading {
  try {
    return new Reader(source).read()
  } catch (error) {
    if (error instanceof Malformed) return { kind: 'malformed' }
    throw error
  }
}

class Reader {
  private readonly source: string
  private readonly stack: Open[] = []
  private open: Open = opened(false)
  private at = 0
  private linear = true
  private readonly names = new Set<string>()
  private readonly referred = new Set<string>()
  private groups = 0
  private highest = 0

  constructor(source: string) {
    this.source = source
  }

  read(): PatternReading {
    while (this.at < this.source.length) this.readNext()
    const known = [...this.referred].every((name) => this.names.has(name))
    if (this.stack.length > 0 || !known || this.highest > this.groups) throw new Malformed()
    const { parts, cost } = this.open
    return this.linear ? { kind: 'linear', re2: parts.join(''), cost: cost + 1 } : { kind: 'not_linear' }
  }

  private readNext(): void {
    const next = this.take()
    switch (next) {
      case '\\':
        return this.readEscape()
      case '(':
        return this.readOpening()
      case ')':
        return this.readClosing()
      case '[':
        return this.atom(this.readClass())
      case '.':
        return this.atom(NOT_LINE_END)
      case '|':
      case '^':
      case '$':
        return this.assertion(next)
      case '*':
      case '+':
      case '?':
      case '{':
      case '}':
      case ']':
        throw new Malformed()
      default:
        return this.atom(literal(codeOf(next)))
    }
  }

  /** One character, which may be two code units. */
  private take(): string {
    const code = this.source.codePointAt(this.at)
    if (code === undefined) throw new Malformed()
    const character = String.fromCodePoint(code)
    this.at += character.length
    return character
  }

  private takeIf(text: string): boolean {
    const found = this.source.startsWith(text, this.at)
    if (found) this.at += text.length
    return found
  }

  private takeMatch(pattern: RegExp): RegExpExecArray | null {
    // No token is longer than this, so that each look costs the same however long the pattern is.
    const found = pattern.exec(this.source.slice(this.at, this.at + 80))
    if (found !== null) this.at += found[0].length
    return found
  }

  /** What cannot be repeated: a mark of a place, or of an alternative. */
  private assertion(text: string): void {
    this.open.parts.push(text)
    this.open.cost += 1
  }

  /** Something that can be repeated, and how often it is. */
  private atom(text: string, cost = 1): void {
    const { open } = this
    const found = this.takeMatch(QUANTIFIER)
    if (found === null) {
      open.parts.push(text)
      open.cost = Math.min(open.cost + cost, MAX_COST)
      return
    }
    const [quantifier, least, , most] = found
    const from = Number(least ?? 0)
    const to = Number(most === undefined || most === '' ? from : most)
    if (to < from) throw new Malformed()
    if (to > MAX_REPEATS) this.linear = false
    const lazy = this.takeIf('?') ? '?' : ''
    open.parts.push(text, quantifier, lazy)
    open.cost = Math.min(open.cost + cost * (to + 1), MAX_COST)
  }

  private readOpening(): void {
    let assertion = false
    if (this.takeIf('?')) {
      if (this.takeIf('=') || this.takeIf('!') || this.takeIf('<=') || this.takeIf('<!')) {
        assertion = true
        this.linear = false
      } else if (this.takeIf('<')) {
        this.groups += 1
        this.nameGroup()
      } else if (!this.takeIf(':')) {
        throw new Malformed()
      }
    } else {
      this.groups += 1
    }
    this.stack.push(this.open)
    this.open = opened(assertion)
  }

  private nameGroup(): void {
    const name = this.readName()
    if (this.names.has(name)) throw new Malformed()
    this.names.add(name)
  }

  private readClosing(): void {
    const inner = this.open
    const outer = this.stack.pop()
    if (outer === undefined) throw new Malformed()
    this.open = outer
    // Nothing is captured: what counts is whether it matches.
    const text = `(?:${inner.parts.join('')})`
    if (inner.assertion) this.assertion(text)
    else this.atom(text, inner.cost + 1)
  }

  private readName(): string {
    const found = this.takeMatch(/^[\p{ID_Start}$_][\p{ID_Continue}$]{0,60}>/u)
    if (found === null) throw new Malformed()
    return found[0]
  }

  private readEscape(): void {
    if (this.takeIf('b')) return this.assertion('\\b')
    if (this.takeIf('B')) return this.assertion('\\B')
    if (this.takeIf('k<')) {
      this.linear = false
      this.referred.add(this.readName())
      return this.atom('')
    }
    const group = this.takeMatch(/^[1-9]\d{0,5}/)
    if (group !== null) {
      this.linear = false
      this.highest = Math.max(this.highest, Number(group[0]))
      return this.atom('')
    }
    const escape = this.readCharacterEscape()
    this.atom(typeof escape === 'number' ? literal(escape) : classText(escape, false))
  }

  /** A code point, or the class that an escape stands for. */
  private readCharacterEscape(): number | Ranges {
    const next = this.take()
    const control = CONTROLS[next]
    if (control !== undefined) return control
    const escape = classEscape(next)
    if (escape !== undefined) return escape
    switch (next) {
      case '0':
        if (this.takeMatch(/^\d/) !== null) throw new Malformed()
        return 0
      case 'c':
        return codeOf(this.required(/^[A-Za-z]/)[0]) % 32
      case 'x':
        return hex(this.required(/^[0-9A-Fa-f]{2}/)[0])
      case 'u':
        return this.readUnicode()
      case 'p':
      case 'P':
        return this.readProperty(next === 'P')
      default:
        if (/[0-9A-Za-z_]/.test(next)) throw new Malformed()
        return codeOf(next)
    }
  }

  private readUnicode(): number {
    if (this.takeIf('{')) {
      const code = hex(this.required(/^[0-9A-Fa-f]{1,60}\}/)[0].slice(0, -1))
      if (code > 0x10_ffff) throw new Malformed()
      return code
    }
    const lead = hex(this.required(/^[0-9A-Fa-f]{4}/)[0])
    const trail = lead >= 0xd800 && lead < 0xdc00 ? this.takeMatch(/^\\u[Dd][C-Fc-f][0-9A-Fa-f]{2}/) : null
    return trail === null ? lead : (lead - 0xd800) * 0x400 + (hex(trail[0].slice(2)) - 0xdc00) + 0x1_0000
  }

  private readProperty(negated: boolean): Ranges {
    const name = this.required(/^\{[A-Za-z0-9_=]{1,60}\}/)[0].slice(1, -1)
    const found = propertyClass(name, negated)
    if (found === 'unknown') throw new Malformed()
    if (found === 'not_known_to_re2') {
      this.linear = false
      return []
    }
    return found
  }

  private required(pattern: RegExp): RegExpExecArray {
    const found = this.takeMatch(pattern)
    if (found === null) throw new Malformed()
    return found
  }

  private readClass(): string {
    const negated = this.takeIf('^')
    const ranges: Ranges[number][] = []
    while (!this.takeIf(']')) {
      const from = this.readClassAtom()
      // A hyphen before the end is one.
      if (this.source[this.at] !== '-' || this.source[this.at + 1] === ']') {
        ranges.push(...(typeof from === 'number' ? [[from, from] as const] : from))
        continue
      }
      this.at += 1
      const to = this.readClassAtom()
      if (typeof from !== 'number' || typeof to !== 'number' || from > to) throw new Malformed()
      ranges.push([from, to])
    }
    return classText(ranges, negated)
  }

  private readClassAtom(): number | Ranges {
    const next = this.take()
    if (next !== '\\') return codeOf(next)
    return this.takeIf('b') ? 8 : this.readCharacterEscape()
  }
}

function opened(assertion: boolean): Open {
  return { parts: [], cost: 0, assertion }
}

function literal(code: number): string {
  return `\\x{${code.toString(16)}}`
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0
}

function hex(digits: string): number {
  return Number.parseInt(digits, 16)
}
