/**
 * JSON as a money order may be written: what two readers could understand differently is refused.
 *   J1. Duplicate keys, nesting beyond 32 levels (plus those of an envelope), NUL and lone surrogates are refused, and so is
 *       a number that a double cannot hold: 12345678901234567890 is 12345678901234567000 as a double.
 *   J2. The work is one scan of the text, one JSON.parse and one walk of its result.
 *   J3. What JSON.parse and the walk cost hangs on the number of parts, not on the bytes: brackets, colons and commas are
 *       counted by the scan, and beyond a bound nothing is parsed.
 * Duplicates are found by counting: each member has one colon outside strings, and JSON.parse keeps one of each name.
 */
import { type Json, MAX_JSON_DEPTH } from '../../actors/canonical-json.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import { endOfString, isExact, keysTo, numberAt } from './json-number.ts'

const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const MINUS = 45

/** Why a text is refused, as a sentence; for an inexact number, with the path to it. */
export interface JsonFault {
  readonly message: string
  readonly keys: readonly (string | number)[]
}

/** Characters of a number that an error shows. */
const SHOWN_DIGITS = 40

/** With the flag `u` a pair of surrogates is one character, so that only lone ones match. */
const LONE_SURROGATE = /[\ud800-\udfff]/u

export interface JsonBounds {
  /** Brackets, colons and commas (J3); no bound without it. */
  readonly maxParts?: number
  /** Levels of nesting. */
  readonly maxDepth?: number
}

export interface ReadJson {
  readonly value: Json
  /** The first inexact number. */
  readonly inexact: JsonFault | undefined
}

/** The value, or the fault of the text. */
export function parseStrictJson(text: string, bounds: JsonBounds = {}): Result<Json, JsonFault> {
  const read = parseJson(text, bounds)
  if (!read.ok) return read
  const { value, inexact } = read.value
  return inexact === undefined ? ok(value) : refuse(inexact)
}

/** The same for a reader that handles inexact numbers itself. */
export function parseJson(
  text: string,
  { maxParts, maxDepth = MAX_JSON_DEPTH }: JsonBounds,
): Result<ReadJson, JsonFault> {
  const { colons, depth, parts, inexactAt } = scan(text, maxParts ?? Number.POSITIVE_INFINITY)
  if (maxParts !== undefined && parts > maxParts) {
    return faulty(`The JSON has more than ${maxParts.toLocaleString('en')} brackets, colons and commas.`)
  }
  if (depth > maxDepth) return faulty(`The JSON is nested deeper than ${maxDepth} levels.`)
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch {
    return faulty('The JSON is not well-formed.')
  }
  // Raw text is well-formed Unicode without NUL inside strings: only an escape can bring either in.
  const walk = { members: 0, escapes: text.includes('\\u'), broken: false }
  visit(value, walk)
  if (walk.broken) return faulty('The JSON holds a NUL or a lone surrogate.')
  if (walk.members !== colons) return faulty('The JSON has an object with a duplicate key.')
  return ok({ value, inexact: inexactAt === undefined ? undefined : inexactNumber(text, inexactAt) })
}

function faulty(message: string): Result<never, JsonFault> {
  return refuse({ message, keys: [] })
}

function inexactNumber(text: string, index: number): JsonFault {
  const literal = numberAt(text, index)
  const shown = literal.length > SHOWN_DIGITS ? `${literal.slice(0, SHOWN_DIGITS)}…` : literal
  return { message: `the number ${shown} changes when it is read: send it as a string`, keys: keysTo(text, index) }
}

interface Scanned {
  /** Outside strings, as all of these. */
  readonly colons: number
  /** How deep brackets nest. */
  readonly depth: number
  /** Opening brackets, colons and commas. */
  readonly parts: number
  /** The index of the first inexact number. */
  readonly inexactAt: number | undefined
}

/** Means nothing for text that is not JSON. Ends early once there are more than `maxParts`. */
function scan(text: string, maxParts: number): Scanned {
  let colons = 0
  let commas = 0
  let opened = 0
  let depth = 0
  let deepest = 0
  let inexactAt: number | undefined
  for (let index = 0; index < text.length && colons + commas + opened <= maxParts; index += 1) {
    const code = text.charCodeAt(index)
    switch (code) {
      case QUOTE:
        index = endOfString(text, index + 1)
        break
      case COMMA:
        commas += 1
        break
      case COLON:
        colons += 1
        break
      case OPEN_BRACE:
      case OPEN_BRACKET:
        opened += 1
        depth += 1
        if (depth > deepest) deepest = depth
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1
        break
      default:
        if (code === MINUS || isDigit(code)) {
          const literal = numberAt(text, index)
          if (inexactAt === undefined && !isExact(literal)) inexactAt = index
          index += literal.length - 1
        }
    }
  }
  return { colons, depth: deepest, parts: colons + commas + opened, inexactAt }
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

interface Walk {
  members: number
  readonly escapes: boolean
  broken: boolean
}

function visit(value: Json, walk: Walk): void {
  if (typeof value === 'string') {
    if (walk.escapes && isBroken(value)) walk.broken = true
    return
  }
  if (value === null || typeof value !== 'object') return
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) visit(item, walk)
    return
  }
  for (const [key, member] of Object.entries<Json>(value)) {
    walk.members += 1
    if (walk.escapes && isBroken(key)) walk.broken = true
    visit(member, walk)
  }
}

function isBroken(text: string): boolean {
  return text.includes('\0') || LONE_SURROGATE.test(text)
}
