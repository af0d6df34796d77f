/**
 * The keywords without subschemas.
 *   K1. Values are equal if their canonical JSON is equal, so that no member name, such as `constructor`, is special.
 *   K2. `uniqueItems`, `enum` and `const` write each value once; `multipleOf` is exact for decimals.
 */
import { canonicalJson, type Json, type JsonObject } from '../../actors/canonical-json.ts'
import { isList, isObject } from './dialect.ts'
import { isMultipleOf } from './exact-multiple.ts'
import { formatTest } from './formats.ts'
import type { Patterns } from './patterns.ts'
import type { Steps } from './steps.ts'

/** `member`: a member of the value that the message is about. */
type Report = (message: string, member?: string) => void
export type Assertion = (value: Json, report: Report) => void

export interface AssertionContext {
  readonly patterns: Patterns
  readonly steps: Steps
}

type AssertionFactory = (operand: Json, context: AssertionContext) => Assertion | undefined

/** Cost of writing a value as canonical JSON. */
const WRITTEN_CHARACTERS_PER_STEP = 2
const COUNTED_CHARACTERS_PER_STEP = 8
const STEPS_PER_MEMBER = 6
/** The product of two numbers has up to a thousand digits. */
const STEPS_PER_DIVISION = 32

const FACTORIES: ReadonlyMap<string, AssertionFactory> = new Map<string, AssertionFactory>([
  ['type', (operand) => hasType(namesIn(isList(operand) ? operand : [operand]))],
  ['const', (operand, context) => isOneOf([operand], context, 'must be equal to constant')],
  [
    'enum',
    (operand, context) =>
      isOneOf(isList(operand) ? operand : [], context, 'must be equal to one of the allowed values'),
  ],
  ['uniqueItems', (operand, context) => (operand === true ? hasUniqueItems(context) : undefined)],
  ['multipleOf', multipleOf],
  ['maximum', bound('<=', (value, limit) => value <= limit)],
  ['exclusiveMaximum', bound('<', (value, limit) => value < limit)],
  ['minimum', bound('>=', (value, limit) => value >= limit)],
  ['exclusiveMinimum', bound('>', (value, limit) => value > limit)],
  ['maxLength', maxSize('characters', lengthOf)],
  ['minLength', minSize('characters', lengthOf)],
  ['maxItems', maxSize('items', itemsIn)],
  ['minItems', minSize('items', itemsIn)],
  ['maxProperties', maxSize('properties', membersIn)],
  ['minProperties', minSize('properties', membersIn)],
  ['pattern', textTest('pattern', (source, { patterns }) => patterns.get(source)?.test)],
  ['format', textTest('format', (name, { steps }) => formatTest(name, steps))],
  ['required', (operand, { steps }) => requires(namesIn(operand), steps)],
  ['dependentRequired', dependentRequired],
  // In draft-07, `dependencies` has lists of names beside schemas.
  ['dependencies', dependentRequired],
])

/** undefined: the keyword has subschemas, or asserts nothing. */
export function assertionOf(keyword: string, operand: Json, context: AssertionContext): Assertion | undefined {
  return FACTORIES.get(keyword)?.(operand, context)
}

function hasType(names: readonly string[]): Assertion {
  const message = `must be ${names.join(',')}`
  return (value, report) => {
    const type = isList(value) ? 'array' : value === null ? 'null' : typeof value
    if (!names.includes(type) && !(names.includes('integer') && Number.isInteger(value))) report(message)
  }
}

function isOneOf(allowed: readonly Json[], context: AssertionContext, message: string): Assertion {
  const texts = new Set(allowed.map(canonicalJson))
  return (value, report) => {
    if (!texts.has(written(value, context))) report(message)
  }
}

function hasUniqueItems(context: AssertionContext): Assertion {
  return (value, report) => {
    if (!isList(value)) return
    const texts = new Set(value.map((item) => written(item, context)))
    if (texts.size < value.length) report('must NOT have duplicate items')
  }
}

function written(value: Json, { steps }: AssertionContext): string {
  const json = canonicalJson(value)
  steps.spend(1 + json.length / WRITTEN_CHARACTERS_PER_STEP)
  return json
}

function multipleOf(operand: Json, { steps }: AssertionContext): Assertion {
  const divisor = Number(operand)
  return (value, report) => {
    if (typeof value !== 'number') return
    steps.spend(STEPS_PER_DIVISION)
    if (!isMultipleOf(value, divisor)) report(`must be multiple of ${divisor}`)
  }
}

function bound(words: string, holds: (value: number, limit: number) => boolean): AssertionFactory {
  return (operand) => {
    const limit = Number(operand)
    return (value, report) => {
      if (typeof value === 'number' && !holds(value, limit)) report(`must be ${words} ${limit}`)
    }
  }
}

/** undefined: the keyword does not apply to the value. */
type Size = (value: Json, steps: Steps) => number | undefined

function maxSize(unit: string, sizeOf: Size): AssertionFactory {
  return (operand, { steps }) => {
    const limit = Number(operand)
    return (value, report) => {
      if ((sizeOf(value, steps) ?? limit) > limit) report(`must NOT have more than ${limit} ${unit}`)
    }
  }
}

function minSize(unit: string, sizeOf: Size): AssertionFactory {
  return (operand, { steps }) => {
    const limit = Number(operand)
    return (value, report) => {
      if ((sizeOf(value, steps) ?? limit) < limit) report(`must NOT have fewer than ${limit} ${unit}`)
    }
  }
}

/** In code points. */
function lengthOf(value: Json, steps: Steps): number | undefined {
  if (typeof value !== 'string') return undefined
  steps.spend(value.length / COUNTED_CHARACTERS_PER_STEP)
  let length = 0
  for (let index = 0; index < value.length; length += 1) index += (value.codePointAt(index) ?? 0) > 0xffff ? 2 : 1
  return length
}

function itemsIn(value: Json): number | undefined {
  return isList(value) ? value.length : undefined
}

function membersIn(value: Json, steps: Steps): number | undefined {
  if (!isObject(value)) return undefined
  const { length } = Object.keys(value)
  steps.spend(length * STEPS_PER_MEMBER)
  return length
}

/** `testOf` returns undefined for a format that the standard does not define: it accepts every text. */
function textTest(
  keyword: string,
  testOf: (operand: string, context: AssertionContext) => ((value: string) => boolean) | undefined,
): AssertionFactory {
  return (operand, context) => {
    if (typeof operand !== 'string') return undefined
    const test = testOf(operand, context)
    if (test === undefined) return undefined
    return (value, report) => {
      if (typeof value === 'string' && !test(value)) report(`must match ${keyword} "${operand}"`)
    }
  }
}

function requires(names: readonly string[], steps: Steps): Assertion {
  return (value, report) => {
    if (!isObject(value)) return
    steps.spend(names.length)
    for (const name of names) if (!Object.hasOwn(value, name)) report('is required', name)
  }
}

function dependentRequired(operand: Json, { steps }: AssertionContext): Assertion {
  const rules = Object.entries(operand as JsonObject).map(([name, names]) => [name, namesIn(names)] as const)
  return (value, report) => {
    if (!isObject(value)) return
    steps.spend(rules.length)
    for (const [name, names] of rules) {
      if (!Object.hasOwn(value, name)) continue
      steps.spend(names.length)
      for (const other of names) if (!Object.hasOwn(value, other)) report('is required by another member', other)
    }
  }
}

function namesIn(operand: Json): readonly string[] {
  return isList(operand) ? operand.filter((name) => typeof name === 'string') : []
}
