/** The `pattern`s of a schema, run by RE2. */
import { RE2JS } from 're2js'
import { ok, refuse, type Result } from '../../actors/result.ts'
import { isObject } from './dialect.ts'
import type { Fuel } from './fuel.ts'
import { MAX_PATTERN_COST } from './limits.ts'
import { readPattern } from './pattern-reader.ts'
import { allIn, at, type SchemaNode } from './schema-tree.ts'

export interface Pattern {
  readonly test: (text: string) => boolean
  /** What tells it from others. */
  readonly toString: () => string
}

/** Instructions that may be walked for a character within a step. */
const INSTRUCTIONS_A_STEP = 32
/** Where there are few, they are walked all at once. */
const LEAST_STEPS_A_CHARACTER = 0.5
/** Of a call, whatever the text. */
const STEPS_A_TEST = 8

/** By what the schema says. */
export type Patterns = ReadonlyMap<string, Pattern>

const REFUSALS = {
  malformed: 'is not a regular expression',
  not_linear: 'cannot be run in linear time',
}

/** Of every schema in it, also of those that nothing refers to; or why they are refused, as a sentence. */
export function compilePatterns(root: SchemaNode, fuel: Fuel): Result<Patterns, string> {
  const patterns = new Map<string, Pattern>()
  let cost = 0
  for (const node of allIn(root)) {
    for (const source of sourcesIn(node)) {
      if (patterns.has(source)) continue
      const reading = readPattern(source)
      if (reading.kind !== 'linear') return refuse(`${at(node.path)} has a pattern that ${REFUSALS[reading.kind]}.`)
      cost += reading.cost
      if (cost > MAX_PATTERN_COST) return refuse('Its patterns are too large.')
      const pattern = compile(source, reading.re2, fuel)
      if (pattern === undefined) return refuse(`${at(node.path)} has a pattern that ${REFUSALS.not_linear}.`)
      patterns.set(source, pattern)
    }
  }
  return ok(patterns)
}

export function isPattern(text: string): boolean {
  return readPattern(text).kind !== 'malformed'
}

/** undefined: nested too deeply, repeated too often, or with a script that RE2 does not know. */
function compile(source: string, re2: string, fuel: Fuel): Pattern | undefined {
  try {
    const pattern = RE2JS.compile(re2)
    const stepsACharacter = Math.max(LEAST_STEPS_A_CHARACTER, pattern.programSize() / INSTRUCTIONS_A_STEP)
    const test = (text: string): boolean => {
      fuel.spend(STEPS_A_TEST + text.length * stepsACharacter)
      return pattern.test(text)
    }
    return { test, toString: () => source }
  } catch {
    return undefined
  }
}

function sourcesIn({ schema }: SchemaNode): readonly string[] {
  if (typeof schema === 'boolean') return []
  const { pattern, patternProperties } = schema
  const names = isObject(patternProperties) ? Object.keys(patternProperties) : []
  return typeof pattern === 'string' ? [pattern, ...names] : names
}
