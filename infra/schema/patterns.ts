/** Compiles the patterns of a schema for RE2. */
import { RE2JS } from 're2js'
import { ok, refuse, type Result } from '../../actors/result.ts'
import { isObject } from './dialect.ts'
import { MAX_PATTERN_COST } from './limits.ts'
import { readPattern } from './pattern-reader.ts'
import { allIn, at, type SchemaNode } from './schema-tree.ts'
import type { Steps } from './steps.ts'

export interface Pattern {
  readonly test: (text: string) => boolean
}

/** RE2 instructions per character that cost one step. */
const INSTRUCTIONS_PER_STEP = 32
/** RE2 visits a few instructions at once, so a character has a minimum cost. */
const MIN_STEPS_PER_CHARACTER = 0.5
/** Fixed cost of a test, whatever the length of the text. */
const STEPS_PER_TEST = 8

/** By their source in the schema. */
export type Patterns = ReadonlyMap<string, Pattern>

const REFUSALS = {
  malformed: 'is not a regular expression',
  not_linear: 'cannot be run in linear time',
}

/** Includes subschemas that nothing refers to. The error is the reason for the refusal, as a sentence. */
export function compilePatterns(root: SchemaNode, steps: Steps): Result<Patterns, string> {
  const patterns = new Map<string, Pattern>()
  let cost = 0
  for (const node of allIn(root)) {
    for (const source of sourcesIn(node)) {
      if (patterns.has(source)) continue
      const reading = readPattern(source)
      if (reading.kind !== 'linear') return refuse(`${at(node.path)} has a pattern that ${REFUSALS[reading.kind]}.`)
      cost += reading.cost
      if (cost > MAX_PATTERN_COST) return refuse('Its patterns are too large.')
      const pattern = compile(reading.re2, steps)
      if (pattern === undefined) return refuse(`${at(node.path)} has a pattern that ${REFUSALS.not_linear}.`)
      patterns.set(source, pattern)
    }
  }
  return ok(patterns)
}

/** undefined: nested too deeply, repeated too often, or with a script that RE2 lacks. */
function compile(re2: string, steps: Steps): Pattern | undefined {
  try {
    const pattern = RE2JS.compile(re2)
    const stepsPerCharacter = Math.max(MIN_STEPS_PER_CHARACTER, pattern.programSize() / INSTRUCTIONS_PER_STEP)
    const test = (text: string): boolean => {
      steps.spend(STEPS_PER_TEST + text.length * stepsPerCharacter)
      return pattern.test(text)
    }
    return { test }
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
