/**
 * The keywords that the compiler is given in place of its own, and one of ours that counts steps.
 *   K1. Values are equal when their canonical JSON is: no member name, such as `constructor` or `valueOf`, changes that.
 *   K2. `uniqueItems`, `enum` and `const` cost what it costs to write the value, once; `multipleOf` is exact.
 *      `dependentRequired` is no code: it is made of so many names that reading them as code took seconds.
 *   K3. Every schema that is applied to a value is counted before it is looked at.
 */
import { _, type CodeKeywordDefinition, type ErrorObject, type FuncKeywordDefinition, Name } from 'ajv'
import { canonicalJson, type Json, type JsonObject } from '../../actors/canonical-json.ts'
import { isMultipleOf } from './exact-multiple.ts'
import { type Fuel, FuelSpent } from './fuel.ts'
import { STEPS } from './keyword-names.ts'
import { MAX_COLLECTED_ERRORS, MAX_PASSING_ERRORS } from './limits.ts'

/** Of a value that is written down to be compared. */
const CHARACTERS_A_STEP = 8

/** Where the code that the compiler makes counts its errors. */
const ERRORS = new Name('errors')

/** Of the compiler's own. */
export const REPLACED = ['const', 'enum', 'uniqueItems', 'multipleOf', 'dependentRequired']

/** More is wrong with a value than can be told. */
export class TooManyErrors extends Error {
  constructor() {
    super('more errors than are collected')
  }
}

export function keywordsFor(
  fuel: Fuel,
  allErrors: boolean,
): readonly (FuncKeywordDefinition | CodeKeywordDefinition)[] {
  const written = (value: Json): string => {
    const text = canonicalJson(value)
    fuel.spend(1 + text.length / CHARACTERS_A_STEP)
    return text
  }
  return [
    {
      keyword: 'const',
      errors: false,
      error: { message: 'must be equal to constant' },
      compile: (expected: Json) => {
        const text = canonicalJson(expected)
        return (value: Json) => written(value) === text
      },
    },
    {
      keyword: 'enum',
      schemaType: 'array',
      errors: false,
      error: { message: 'must be equal to one of the allowed values' },
      compile: (allowed: readonly Json[]) => {
        const texts = new Set(allowed.map(canonicalJson))
        return (value: Json) => texts.has(written(value))
      },
    },
    {
      keyword: 'uniqueItems',
      type: 'array',
      schemaType: 'boolean',
      errors: false,
      error: { message: 'must NOT have duplicate items' },
      compile: (unique: boolean) => (items: readonly Json[]) =>
        !unique || new Set(items.map(written)).size === items.length,
    },
    {
      keyword: 'multipleOf',
      type: 'number',
      schemaType: 'number',
      errors: false,
      error: { message: ({ schema }) => `must be multiple of ${schema}` },
      compile: (divisor: number) => (value: number) => isMultipleOf(value, divisor),
    },
    {
      keyword: 'dependentRequired',
      type: 'object',
      schemaType: 'object',
      errors: true,
      compile: (dependencies: Readonly<Record<string, readonly string[]>>) => dependentRequired(dependencies, fuel),
    },
    stepsKeyword(fuel, allErrors),
  ]
}

type Check = ((value: JsonObject) => boolean) & { errors?: Partial<ErrorObject>[] }

function dependentRequired(dependencies: Readonly<Record<string, readonly string[]>>, fuel: Fuel): Check {
  const rules = Object.entries(dependencies)
  const check: Check = (value) => {
    fuel.spend(rules.length)
    const missing = new Set<string>()
    for (const [name, required] of rules) {
      if (!Object.hasOwn(value, name)) continue
      fuel.spend(required.length)
      for (const other of required) if (!Object.hasOwn(value, other)) missing.add(other)
    }
    check.errors = [...missing].map((missingProperty) => ({
      keyword: 'dependentRequired',
      params: { missingProperty },
    }))
    return missing.size === 0
  }
  return check
}

function stepsKeyword(fuel: Fuel, allErrors: boolean): CodeKeywordDefinition {
  const count = (steps: number, errors: number): void => {
    fuel.spend(steps)
    if (allErrors && errors > MAX_COLLECTED_ERRORS) throw new TooManyErrors()
    if (errors > MAX_PASSING_ERRORS) throw new FuelSpent()
  }
  return {
    keyword: STEPS,
    schemaType: 'number',
    // Before all that goes down into other schemas (K3).
    before: '$ref',
    code: ({ gen, schema }) => {
      gen.code(_`${gen.scopeValue('func', { ref: count })}(${schema}, ${ERRORS})`)
    },
  }
}
