/**
 * `contains`, `unevaluatedProperties` and `unevaluatedItems` for the compiler: keywords that ask whether a value satisfies
 * another schema, and do nothing about its errors. The compiler's own note an error for each item that does not match,
 * and do not know what `contains` has evaluated.
 */
import type { ErrorObject, FuncKeywordDefinition, ValidateFunction } from 'ajv'
import type { DataValidationCxt } from 'ajv/dist/types/index.js'
import type { Json } from '../../actors/canonical-json.ts'
import { isList, isObject } from './dialect.ts'
import { type Satisfaction, unevaluatedIn } from './evaluated.ts'
import type { Fuel } from './fuel.ts'
import { CONTAINS, UNEVALUATED } from './keyword-names.ts'
import type { Patterns } from './patterns.ts'
import type { ReducedSchema } from './reduce.ts'
import type { SchemaNode } from './schema-tree.ts'

const STEPS_A_QUESTION = 8

export interface Circumstances {
  readonly reduced: ReducedSchema
  readonly patterns: Patterns
  readonly fuel: Fuel
  readonly allErrors: boolean
  /** The function of the schema that has this name under `$defs`. */
  readonly functionOf: (name: string) => ValidateFunction
}

type Errors = readonly Partial<ErrorObject>[]
type Check = ((value: Json, context?: DataValidationCxt) => boolean) & { errors?: Partial<ErrorObject>[] }

export function askingKeywords(circumstances: Circumstances): readonly FuncKeywordDefinition[] {
  const nodeOf = (place: number): SchemaNode | undefined => circumstances.reduced.nodes[place]
  return [
    {
      keyword: UNEVALUATED,
      schemaType: 'number',
      // What is left over is known when everything else is.
      post: true,
      errors: true,
      compile: (place: number) =>
        checkOf(nodeOf(place), (node, value, path) => leftOver(circumstances, node, value, path)),
    },
    {
      keyword: CONTAINS,
      type: 'array',
      schemaType: 'number',
      errors: true,
      compile: (place: number) => checkOf(nodeOf(place), (node, value) => contained(circumstances, node, value)),
    },
  ]
}

function checkOf(
  node: SchemaNode | undefined,
  errorsIn: (node: SchemaNode, value: Json, path: string) => Errors,
): Check {
  const check: Check = (value, context) => {
    const errors = node === undefined ? [] : errorsIn(node, value, context?.instancePath ?? '')
    check.errors = [...errors]
    return errors.length === 0
  }
  return check
}

function leftOver(circumstances: Circumstances, node: SchemaNode, value: Json, path: string): Errors {
  const { patterns, fuel, allErrors } = circumstances
  const keyword = isList(value) ? 'unevaluatedItems' : 'unevaluatedProperties'
  const rule = insideOf(node, keyword)
  if (rule === undefined || !(isList(value) || isObject(value))) return []
  const satisfaction: Satisfaction = {
    patterns,
    fuel,
    satisfies: (one, part) => ask(circumstances, one, part).length === 0,
  }
  const errors: Partial<ErrorObject>[] = []
  for (const key of unevaluatedIn(node, value, satisfaction)) {
    const part = isList(value) ? value[Number(key)] : value[key]
    errors.push(...ask(circumstances, rule, part ?? null, `${path}/${pointerToken(key)}`))
    if (errors.length > 0 && !allErrors) break
  }
  return errors
}

function contained(circumstances: Circumstances, node: SchemaNode, value: Json): Errors {
  const wanted = insideOf(node, 'contains')
  if (wanted === undefined || !isList(value) || typeof node.schema === 'boolean') return []
  const isDraft07 = circumstances.reduced.dialect === 'draft-07'
  const least = numberOf(isDraft07 ? undefined : node.schema['minContains'], 1)
  const most = numberOf(isDraft07 ? undefined : node.schema['maxContains'], Number.POSITIVE_INFINITY)
  let count = 0
  for (const item of value) {
    if (ask(circumstances, wanted, item).length === 0) count += 1
    if (count > most || (count >= least && most === Number.POSITIVE_INFINITY)) break
  }
  const limits = most === Number.POSITIVE_INFINITY ? `at least ${least}` : `at least ${least} and no more than ${most}`
  return count >= least && count <= most
    ? []
    : [{ keyword: 'contains', params: {}, message: `must contain ${limits} valid item(s)` }]
}

function insideOf(node: SchemaNode, keyword: string): SchemaNode | undefined {
  return node.inside.find((place) => place.keyword === keyword)?.node
}

function numberOf(value: Json | undefined, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}

/** What is wrong with a value for one schema. */
function ask({ reduced, functionOf, fuel }: Circumstances, node: SchemaNode, value: Json, instancePath = ''): Errors {
  fuel.spend(STEPS_A_QUESTION)
  if (node.schema === true) return []
  if (node.schema === false) return [{ keyword: 'false schema', instancePath, params: {}, message: 'is not allowed' }]
  const validate = functionOf(reduced.nameOf(node))
  const context = { instancePath, parentData: {}, parentDataProperty: '', rootData: {}, dynamicAnchors: {} }
  // It may be asked again while it looks: its errors are taken before anything else happens.
  const errors = validate(value, context) ? [] : (validate.errors ?? [])
  validate.errors = null
  return errors
}

/** RFC 6901, 3. */
function pointerToken(key: string | number): string {
  return String(key).replaceAll('~', '~0').replaceAll('/', '~1')
}
