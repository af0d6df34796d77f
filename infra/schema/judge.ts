/**
 * Answers the questions about schemas, where it is called: in the process that may be ended while it does.
 *   J1. Each question is answered from its text alone; what is kept between them changes nothing but how fast.
 *   J2. Most of what is hostile is refused by counting, and the same everywhere.
 */
import type { JsonObject, Json } from '../../actors/canonical-json.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import { type BoundedCache, createBoundedCache } from '../../runtime/common/bounded-cache.ts'
import type { ValueError } from '../../runtime/ports/schema-validator.ts'
import { type CompiledSchema, compileSchema, NotCompiled } from './compile.ts'
import { type Dialect, dialectOf } from './dialect.ts'
import { checkExpansion } from './expansion.ts'
import { Fuel, FuelSpent } from './fuel.ts'
import { createMetaSchemas, type MetaSchemas } from './meta-schema.ts'
import { compilePatterns, type Patterns } from './patterns.ts'
import { NO_SCHEMA, TOO_MUCH_WORK, TOO_MUCH_WORK_FOR_VALUE, type Verdicts } from './question.ts'
import { reduceSchema } from './reduce.ts'
import { readSchemaTree, type SchemaNode } from './schema-tree.ts'
import { valueErrors } from './value-errors.ts'

export interface Judge {
  /** `schema`: canonical JSON of an object, within `MAX_SCHEMA_BYTES`. */
  readonly check: (schema: string) => Verdicts['check']
  /** `value`: canonical JSON. */
  readonly validate: (schema: string, value: string) => Verdicts['validate']
}

/** Compiled schemas that are kept: those last used. A large one may take megabytes. */
const KEPT_SCHEMAS = 64
const KEPT_LARGE_SCHEMAS = 8
const LARGE_SCHEMA_LENGTH = 8_192

export function createJudge(): Judge {
  const metaSchemas = createMetaSchemas()
  const small: BoundedCache<string, CompiledSchema> = createBoundedCache(KEPT_SCHEMAS)
  const large: BoundedCache<string, CompiledSchema> = createBoundedCache(KEPT_LARGE_SCHEMAS)
  const compiledOf = (text: string): Result<CompiledSchema, string> => {
    const kept = text.length < LARGE_SCHEMA_LENGTH ? small : large
    const known = kept.get(text)
    if (known !== undefined) return ok(known)
    const compiled = readSchema(metaSchemas, JSON.parse(text) as JsonObject)
    if (compiled.ok) kept.set(text, compiled.value)
    return compiled
  }
  return {
    check: (schema) => {
      const compiled = compiledOf(schema)
      return compiled.ok ? { kind: 'valid' } : { kind: 'invalid', reason: compiled.error }
    },
    validate: (schema, text) => {
      const compiled = compiledOf(schema)
      if (!compiled.ok) return { kind: 'invalid', errors: [{ path: '', message: NO_SCHEMA }] }
      const value = JSON.parse(text) as Json
      const errors = errorsOf(compiled.value, value)
      return errors.length === 0 ? { kind: 'valid' } : { kind: 'invalid', errors }
    },
  }
}

function errorsOf(compiled: CompiledSchema, value: Json): readonly ValueError[] {
  try {
    return valueErrors(compiled.errorsOf(value), value)
  } catch (error) {
    if (error instanceof FuelSpent) return [{ path: '', message: TOO_MUCH_WORK_FOR_VALUE }]
    throw error
  }
}

/** Why it is refused, as a sentence. In the order of what they cost. */
function readSchema(metaSchemas: MetaSchemas, schema: JsonObject): Result<CompiledSchema, string> {
  const dialect = dialectOf(schema['$schema'])
  if (dialect === undefined) return refuse('Its $schema is neither JSON Schema 2020-12 nor draft-07.')
  const proper = metaSchemas.check(dialect, schema)
  if (!proper.ok) return proper
  const tree = readSchemaTree(dialect, schema)
  if (!tree.ok) return tree
  const extent = checkExpansion(tree.value)
  if (!extent.ok) return extent
  const fuel = new Fuel()
  const patterns = compilePatterns(tree.value, fuel)
  return patterns.ok ? compiled(dialect, tree.value, fuel, patterns.value) : patterns
}

function compiled(dialect: Dialect, root: SchemaNode, fuel: Fuel, patterns: Patterns): Result<CompiledSchema, string> {
  try {
    return ok(compileSchema(reduceSchema(dialect, root), fuel, patterns))
  } catch (error) {
    if (error instanceof NotCompiled) return refuse(TOO_MUCH_WORK)
    throw error
  }
}
