/**
 * Which members or items of a value have been evaluated by a schema that the value satisfies (2020-12, Core, 11): what is
 * left over is for `unevaluatedProperties` and `unevaluatedItems`.
 *   N1. A schema that applies to the same value counts only if the value satisfies it; what stands in `not` never counts.
 */
import type { Json, JsonObject } from '../../actors/canonical-json.ts'
import { isList, isObject } from './dialect.ts'
import type { Fuel } from './fuel.ts'
import type { Patterns } from './patterns.ts'
import type { Inside, SchemaNode } from './schema-tree.ts'

/** How the schemas themselves are asked. */
export interface Satisfaction {
  readonly satisfies: (node: SchemaNode, value: Json) => boolean
  readonly patterns: Patterns
  readonly fuel: Fuel
}

/** Those of a value that no schema has evaluated: names of members, or indices. */
export function unevaluatedIn(node: SchemaNode, value: Json, satisfaction: Satisfaction): readonly (string | number)[] {
  const keys: (string | number)[] = isList(value) ? [...value.keys()] : isObject(value) ? Object.keys(value) : []
  const left = new Set(keys)
  satisfaction.fuel.spend(keys.length)
  // Its own word on what is left over is the question, and no part of the answer.
  for (const one of appliedTo(node, value, satisfaction)) evaluate(one, value, satisfaction, left, one === node)
  return [...left]
}

/** The schema and all that it applies to the same value and that the value satisfies. */
function appliedTo(node: SchemaNode, value: Json, satisfaction: Satisfaction): ReadonlySet<SchemaNode> {
  const found = new Set([node])
  for (const one of found) {
    if (one.target !== null) found.add(one.target)
    for (const place of one.inside) {
      if (place.applies === 'here' && isTaken(one, place, value, satisfaction)) found.add(place.node)
    }
  }
  return found
}

function isTaken(outer: SchemaNode, { keyword, key, node }: Inside, value: Json, { satisfies }: Satisfaction): boolean {
  switch (keyword) {
    case 'allOf':
      return true
    case 'anyOf':
    case 'oneOf':
    case 'if':
      return satisfies(node, value)
    case 'then':
    case 'else': {
      const condition = outer.inside.find((place) => place.keyword === 'if')
      return condition !== undefined && satisfies(condition.node, value) === (keyword === 'then')
    }
    case 'dependentSchemas':
      return isObject(value) && Object.hasOwn(value, String(key))
    default:
      return false
  }
}

/** Takes out of `left` what the schema evaluates by itself. */
function evaluate(
  node: SchemaNode,
  value: Json,
  by: Satisfaction,
  left: Set<string | number>,
  isAsking: boolean,
): void {
  if (typeof node.schema === 'boolean') return
  if (isList(value)) evaluateItems(node, value, by, left, isAsking)
  else if (isObject(value)) evaluateMembers(node, node.schema, by, left, isAsking)
}

function evaluateMembers(
  node: SchemaNode,
  schema: JsonObject,
  { patterns, fuel }: Satisfaction,
  left: Set<string | number>,
  isAsking: boolean,
): void {
  fuel.spend(node.inside.length)
  for (const { keyword, key } of node.inside) {
    if (keyword === 'properties') left.delete(String(key))
    if (keyword === 'additionalProperties') left.clear()
    if (keyword === 'unevaluatedProperties' && !isAsking) left.clear()
  }
  const { patternProperties } = schema
  if (!isObject(patternProperties)) return
  for (const source of Object.keys(patternProperties)) {
    for (const name of left) if (patterns.get(source)?.test(String(name)) === true) left.delete(name)
  }
}

function evaluateItems(
  node: SchemaNode,
  items: readonly Json[],
  { satisfies }: Satisfaction,
  left: Set<string | number>,
  isAsking: boolean,
): void {
  for (const { keyword, key, node: inner } of node.inside) {
    if (keyword === 'prefixItems' && typeof key === 'number') left.delete(key)
    if (keyword === 'items') left.clear()
    if (keyword === 'unevaluatedItems' && !isAsking) left.clear()
    if (keyword !== 'contains') continue
    for (const index of left) if (satisfies(inner, items[Number(index)] ?? null)) left.delete(index)
  }
}

/** Those of which the schema's own keywords ask whether a value satisfies them. */
export function askedBy(node: SchemaNode): ReadonlySet<SchemaNode> {
  const { inside } = node
  const asked = new Set(inside.flatMap((place) => (place.keyword === 'contains' ? [place.node] : [])))
  const rules = inside.filter(({ keyword }) => isUnevaluated(keyword))
  if (rules.length === 0) return asked
  for (const place of rules) asked.add(place.node)
  const applied = new Set([node])
  for (const one of applied) {
    if (one.target !== null) applied.add(one.target)
    for (const place of one.inside) {
      if (place.applies === 'here') applied.add(place.node)
      if (ALTERNATIVES.has(place.keyword)) asked.add(place.node)
    }
  }
  return asked
}

const ALTERNATIVES: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'if'])

function isUnevaluated(keyword: string): boolean {
  return keyword === 'unevaluatedProperties' || keyword === 'unevaluatedItems'
}
