/**
 * Answers questions about schemas in the calling thread.
 *   J1. A reply depends on the question's text alone. The cache changes only the time that it takes.
 *   J2. Counts, not clocks, refuse most hostile questions, so that every machine gives the same reply.
 */
import type { JsonObject, Json } from '../../actors/canonical-json.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import { createBoundedCache } from '../../runtime/common/bounded-cache.ts'
import type { ValueError } from '../../runtime/ports/schema-validator.ts'
import { dialectOf } from './dialect.ts'
import { Evaluator } from './evaluate.ts'
import { checkExpansion } from './expansion.ts'
import { createMetaSchemas, type MetaSchemas } from './meta-schema.ts'
import { compilePatterns } from './patterns.ts'
import { NO_SCHEMA, TOO_MUCH_WORK_FOR_VALUE, type Verdicts } from './question.ts'
import { readSchemaTree } from './schema-tree.ts'
import { Steps, StepsExhausted } from './steps.ts'

export interface Judge {
  /** `schema`: canonical JSON of an object, within `MAX_SCHEMA_BYTES`. */
  readonly check: (schema: string) => Verdicts['check']
  /** `value`: canonical JSON. */
  readonly validate: (schema: string, value: string) => Verdicts['validate']
}

/** The patterns of a large schema may take megabytes. */
const MAX_CACHED_SCHEMAS = 16

export function createJudge(): Judge {
  const metaSchemas = createMetaSchemas()
  const cache = createBoundedCache<string, Evaluator>(MAX_CACHED_SCHEMAS)
  const evaluatorOf = (text: string): Result<Evaluator, string> => {
    const cached = cache.get(text)
    if (cached !== undefined) return ok(cached)
    const evaluator = readSchema(metaSchemas, JSON.parse(text) as JsonObject)
    if (evaluator.ok) cache.set(text, evaluator.value)
    return evaluator
  }
  return {
    check: (schema) => {
      const evaluator = evaluatorOf(schema)
      return evaluator.ok ? { kind: 'valid' } : { kind: 'invalid', reason: evaluator.error }
    },
    validate: (schema, text) => {
      const evaluator = evaluatorOf(schema)
      if (!evaluator.ok) return { kind: 'invalid', errors: [{ path: '', message: NO_SCHEMA }] }
      const errors = errorsOf(evaluator.value, JSON.parse(text) as Json)
      return errors.length === 0 ? { kind: 'valid' } : { kind: 'invalid', errors }
    },
  }
}

function errorsOf(evaluator: Evaluator, value: Json): readonly ValueError[] {
  try {
    return evaluator.errorsOf(value)
  } catch (error) {
    if (error instanceof StepsExhausted) return [{ path: '', message: TOO_MUCH_WORK_FOR_VALUE }]
    throw error
  }
}

/** Cheap checks come first. The error is the reason for the refusal, as a sentence. */
function readSchema(metaSchemas: MetaSchemas, schema: JsonObject): Result<Evaluator, string> {
  const dialect = dialectOf(schema['$schema'])
  if (dialect === undefined) return refuse('Its $schema is neither JSON Schema 2020-12 nor draft-07.')
  const wellFormed = metaSchemas.check(dialect, schema)
  if (!wellFormed.ok) return wellFormed
  const tree = readSchemaTree(dialect, schema)
  if (!tree.ok) return tree
  const extent = checkExpansion(tree.value)
  if (!extent.ok) return extent
  const steps = new Steps()
  const patterns = compilePatterns(tree.value, steps)
  return patterns.ok ? ok(new Evaluator(dialect, tree.value, { patterns: patterns.value, steps })) : patterns
}
