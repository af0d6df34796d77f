/**
 * The schema that the compiler is given: only what the dialect knows of the one that was asked about, with each schema
 * that is referred to under a name of ours.
 *   R1. What is no keyword of the dialect is left out: an annotation changes nothing, whatever the compiler would make of it.
 *   R2. Every schema is compiled once, however often it is referred to.
 */
import type { Json, JsonObject } from '../../actors/canonical-json.ts'
import { type Dialect, isObject, keywordOf } from './dialect.ts'
import { askedBy } from './evaluated.ts'
import { formatTest } from './formats.ts'
import { CONTAINS, STEPS, stepsOf, UNEVALUATED } from './keyword-names.ts'
import { allIn, type Inside, type SchemaNode } from './schema-tree.ts'

export interface ReducedSchema {
  readonly dialect: Dialect
  readonly schema: JsonObject
  /** The name under `$defs` of one that is asked about by itself. */
  readonly nameOf: (node: SchemaNode) => string
  /** Their names. */
  readonly asked: readonly string[]
  /** Those that have a keyword of ours, which names its own by the place here. */
  readonly nodes: readonly SchemaNode[]
}

type Reduced = JsonObject | boolean

interface Reduction {
  readonly dialect: Dialect
  /** In the order in which they were met. */
  readonly names: Map<SchemaNode, string>
  /** Never compiled in place. */
  readonly apart: ReadonlySet<SchemaNode>
  readonly nodes: SchemaNode[]
}

/** By which of ours the compiler's are replaced; null: it stands beside one that is. */
const REPLACED_BY: ReadonlyMap<string, string | null> = new Map([
  ['unevaluatedProperties', UNEVALUATED],
  ['unevaluatedItems', UNEVALUATED],
  ['contains', CONTAINS],
  ['minContains', null],
  ['maxContains', null],
])

export function reduceSchema(dialect: Dialect, root: SchemaNode): ReducedSchema {
  const apart = new Set([...allIn(root)].flatMap((node) => [...askedBy(node)]))
  const reduction: Reduction = { dialect, names: new Map(), apart, nodes: [] }
  const start = reference(reduction, root)
  const asked = new Set([...apart].map((node) => nameIn(reduction, node)))
  const definitions: [string, Reduced][] = []
  // Grows while it is gone through: what is reduced refers to more.
  for (const [node, name] of reduction.names) definitions.push([name, reduce(reduction, node)])
  return {
    dialect,
    schema: { ...start, $defs: Object.fromEntries(definitions) },
    nameOf: (node) => nameIn(reduction, node),
    asked: [...asked],
    nodes: reduction.nodes,
  }
}

function reference(reduction: Reduction, node: SchemaNode): JsonObject {
  return { $ref: `#/$defs/${nameIn(reduction, node)}` }
}

function nameIn({ names }: Reduction, node: SchemaNode): string {
  const name = names.get(node) ?? String(names.size)
  names.set(node, name)
  return name
}

/** What it says by itself, beside its `$ref`. In draft-07 that is nothing. */
function keywordsIn(dialect: Dialect, { schema, target }: SchemaNode): readonly (readonly [string, Json])[] {
  if (typeof schema === 'boolean' || (dialect === 'draft-07' && target !== null)) return []
  return Object.entries(schema).filter(([name, value]) => {
    const rule = keywordOf(dialect, name)
    return rule !== undefined && rule.applies !== 'nowhere' && !isUnknownFormat(name, value)
  })
}

function isUnknownFormat(name: string, value: Json): boolean {
  return name === 'format' && typeof value === 'string' && formatTest(value) === undefined
}

function reduce(reduction: Reduction, node: SchemaNode): Reduced {
  const { schema, inside, target } = node
  if (typeof schema === 'boolean') return schema
  const keywords = keywordsIn(reduction.dialect, node)
  if (keywords.length === 0 && target === null) return true
  // Assigning to an object would lose a member named `__proto__`.
  const members: [string, Json][] = [[STEPS, stepsOf(schema)]]
  if (target !== null) members.push(...Object.entries(reference(reduction, target)))
  for (const [name, value] of keywords) {
    const replacement = REPLACED_BY.get(name)
    const isPlain = keywordOf(reduction.dialect, name)?.applies === 'plain'
    if (name === 'dependencies') members.push(['dependentRequired', listsIn(value)])
    if (replacement === undefined) members.push([name, isPlain ? value : reduceKeyword(reduction, name, value, inside)])
    else if (replacement !== null) members.push([replacement, placeOf(reduction, node)])
  }
  return Object.fromEntries(members)
}

function placeOf({ nodes }: Reduction, node: SchemaNode): number {
  if (nodes.at(-1) !== node) nodes.push(node)
  return nodes.length - 1
}

function reduceKeyword(reduction: Reduction, name: string, value: Json, inside: readonly Inside[]): Json {
  const places = inside
    .filter(({ keyword }) => keyword === name)
    .map(({ key, node }) => ({ key, reduced: inPlace(reduction, node) }))
  if (Array.isArray(value)) return places.map(({ reduced }) => reduced)
  const [first] = places
  if (first?.key === null) return first.reduced
  return Object.fromEntries(places.map(({ key, reduced }): [string, Json] => [String(key), reduced]))
}

/** In draft-07, `dependencies` has lists of names beside schemas. */
function listsIn(value: Json): JsonObject {
  return Object.fromEntries(isObject(value) ? Object.entries(value).filter(([, other]) => Array.isArray(other)) : [])
}

function inPlace(reduction: Reduction, node: SchemaNode): Reduced {
  return reduction.apart.has(node) ? reference(reduction, node) : reduce(reduction, node)
}
