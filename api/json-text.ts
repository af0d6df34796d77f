/**
 * JSON as a money order may be written: what two readers could understand differently is refused.
 *   J1. Duplicate keys, nesting beyond 32 (of an envelope: and what it adds), NUL, lone surrogates and numbers beyond what JSON can carry are refused.
 *   J2. The work is one scan of the text, one JSON.parse and one walk of its result.
 *   J3. What JSON.parse and the walk cost hangs on the number of parts, not on the bytes: brackets, colons and commas are
 *       counted by the scan, and beyond a bound nothing is parsed.
 * Duplicates are found by counting: each member has one colon outside strings, and JSON.parse keeps one of each name.
 */
import { type Json, MAX_JSON_DEPTH } from '../actors/canonical-json.ts'
import { ok, refuse, type Result } from '../actors/result.ts'

const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_BRACKET = 91
const BACKSLASH = 92
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

/** With the flag `u` a pair of surrogates is one character, so that only lone ones match. */
const LONE_SURROGATE = /[\ud800-\udfff]/u

/**
 * The value, or why the text is none, as a sentence. `maxParts`: brackets, colons and commas (J3); no bound without it.
 * `maxDepth`: levels of nesting.
 */
export function parseStrictJson(
  text: string,
  maxParts = Number.POSITIVE_INFINITY,
  maxDepth = MAX_JSON_DEPTH,
): Result<Json, string> {
  const { colons, depth, parts } = scan(text, maxParts)
  if (parts > maxParts) {
    return refuse(`The JSON has more than ${maxParts.toLocaleString('en')} brackets, colons and commas.`)
  }
  if (depth > maxDepth) return refuse(`The JSON is nested deeper than ${maxDepth} levels.`)
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch {
    return refuse('The body is not well-formed JSON.')
  }
  // Raw text is well-formed Unicode without NUL inside strings: only an escape can bring either in.
  const walk = { members: 0, escapes: text.includes('\\u'), broken: false }
  visit(value, walk)
  if (walk.broken) return refuse('The JSON holds a NUL, a lone surrogate or a number out of range.')
  if (walk.members !== colons) return refuse('The JSON has an object with a duplicate key.')
  return ok(value)
}

interface Scanned {
  /** Outside strings, as all of these. */
  readonly colons: number
  /** How deep brackets nest. */
  readonly depth: number
  /** Opening brackets, colons and commas. */
  readonly parts: number
}

/** Means nothing for text that is not JSON. Ends early once there are more than `maxParts`. */
function scan(text: string, maxParts: number): Scanned {
  let colons = 0
  let commas = 0
  let opened = 0
  let depth = 0
  let deepest = 0
  for (let index = 0; index < text.length && colons + commas + opened <= maxParts; index += 1) {
    switch (text.charCodeAt(index)) {
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
    }
  }
  return { colons, depth: deepest, parts: colons + commas + opened }
}

/** Where the string that begins at `start` ends: its closing quote, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let index = start; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) return index
    if (code === BACKSLASH) index += 1
  }
  return text.length
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
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) walk.broken = true
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
