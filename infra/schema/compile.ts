/**
 * A schema made into functions by ajv.
 *   V1. Valid is what the first pass says, which stops at the first error. A second one collects the errors of what is not
 *       valid, and if that takes too much, the first pass has something to tell.
 *   V2. Nothing of one schema is kept by another: each has a compiler of its own, and goes with it.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Json } from '../../actors/canonical-json.ts'
import { askingKeywords } from './asking-keywords.ts'
import { formatsFor } from './formats.ts'
import { type Fuel, FuelSpent } from './fuel.ts'
import { keywordsFor, REPLACED, TooManyErrors } from './keywords.ts'
import { MAX_STEPS } from './limits.ts'
import type { Pattern, Patterns } from './patterns.ts'
import type { ReducedSchema } from './reduce.ts'

export interface CompiledSchema {
  /** Empty: the value is valid. Throws `FuelSpent` when that is not known within the bounds. */
  readonly errorsOf: (value: Json) => readonly ErrorObject[]
}

/** What the compiler knows the schema by; no `$id` reaches it. */
const ROOT = 'schema'

/** More code than V8 reads. */
export class NotCompiled extends Error {}

/** `patterns`: all of the schema's; they spend the same fuel. Throws `NotCompiled`. */
export function compileSchema(reduced: ReducedSchema, fuel: Fuel, patterns: Patterns): CompiledSchema {
  const compileWith = (allErrors: boolean): ValidateFunction => compile({ reduced, fuel, patterns, allErrors })
  const first = compileWith(false)
  let all: ValidateFunction | undefined
  const collect = (value: Json): readonly ErrorObject[] => {
    all ??= compileWith(true)
    return bounded(fuel, all, value)
  }
  return {
    errorsOf: (value) => {
      const errors = bounded(fuel, first, value)
      if (errors.length === 0) return errors
      try {
        const more = collect(value)
        return more.length === 0 ? errors : more
      } catch (error) {
        if (error instanceof FuelSpent || error instanceof TooManyErrors) return errors
        throw error
      }
    },
  }
}

function bounded(fuel: Fuel, validate: ValidateFunction, value: Json): readonly ErrorObject[] {
  fuel.fill(MAX_STEPS)
  try {
    return validate(value) ? [] : (validate.errors ?? [])
  } catch (error) {
    // The stack ends where schemas refer to one another too deeply for a value.
    if (error instanceof RangeError) throw new FuelSpent()
    throw error
  } finally {
    validate.errors = null
  }
}

interface Compilation {
  readonly reduced: ReducedSchema
  readonly fuel: Fuel
  readonly patterns: Patterns
  readonly allErrors: boolean
}

function compile(compilation: Compilation): ValidateFunction {
  try {
    const ajv = createCompiler(compilation)
    const functionOf = (name: string): ValidateFunction => {
      const found = ajv.getSchema(`${ROOT}#/$defs/${name}`)
      if (found === undefined) throw new Error('a schema that was not reduced')
      return found
    }
    for (const definition of askingKeywords({ ...compilation, functionOf })) ajv.addKeyword(definition)
    ajv.addSchema(compilation.reduced.schema, ROOT)
    const validate = ajv.getSchema(ROOT)
    if (validate === undefined) throw new Error('ajv lost the schema')
    // Made now: what is too large is refused when the schema is looked at, not when a value is.
    for (const name of compilation.reduced.asked) functionOf(name)
    return validate
  } catch (error) {
    if (error instanceof RangeError) throw new NotCompiled('the stack has no room', { cause: error })
    throw error
  }
}

function createCompiler({ reduced, fuel, patterns, allErrors }: Compilation): Ajv | Ajv2020 {
  const patternOf = (source: string): Pattern => {
    const pattern = patterns.get(source)
    if (pattern === undefined) throw new Error('a pattern that was not looked at')
    return pattern
  }
  const options = {
    strict: false,
    logger: false,
    allErrors,
    // A member that the value has only from its prototype is none.
    ownProperties: true,
    // In place, a schema would be compiled as often as it is referred to.
    inlineRefs: false,
    // The schema was held against that of its dialect before, and is known under no name.
    meta: false,
    validateSchema: false,
    formats: formatsFor(fuel),
    // More names than these are gone through, and not written out.
    loopRequired: 20,
    // Optimizing takes longer than running what was not.
    code: { optimize: false, regExp: Object.assign(patternOf, { code: 'not used: the code is never written out' }) },
  } as const
  const ajv = reduced.dialect === '2020-12' ? new Ajv2020(options) : new Ajv(options)
  // It would note what its own `unevaluated…` need.
  ajv.opts.unevaluated = false
  for (const keyword of REPLACED) ajv.removeKeyword(keyword)
  for (const definition of keywordsFor(fuel, allErrors)) ajv.addKeyword(definition)
  return ajv
}
