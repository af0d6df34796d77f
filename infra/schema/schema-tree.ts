/**
 * A schema taken apart: every schema inside it, where it stands, and what its `$ref` refers to.
 *   T1. What is refused here never reaches the compiler: references out of the document, dynamic ones, and words that
 *       mean something to the compiler only ($async, $data).
 *   T2. `$id`, `$anchor` and `$ref` are resolved here once; the compiler sees none of them.
 */
import type { JsonObject } from '../../actors/canonical-json.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import { type Dialect, dialectOf, isObject, keywordOf, type Place, placesIn } from './dialect.ts'
import { MAX_SUBSCHEMAS } from './limits.ts'
import { shortened } from './shortened.ts'

export interface SchemaNode {
  /** Where it stands, as a JSON pointer. */
  readonly path: string
  readonly schema: JsonObject | boolean
  readonly inside: readonly Inside[]
  /** What its `$ref` refers to. */
  readonly target: SchemaNode | null
}

export interface Inside extends Place {
  readonly node: SchemaNode
}

/** As long as the tree grows: what a `$ref` means is known when all `$id`s are. */
interface GrowingNode extends SchemaNode {
  inside: readonly Inside[]
  target: SchemaNode | null
}

interface Reference {
  readonly node: GrowingNode
  readonly base: string
  readonly ref: string
}

interface Growth {
  readonly dialect: Dialect
  /** By path. */
  readonly nodes: Map<string, GrowingNode>
  /** The path of the schema that has this URI. */
  readonly resources: Map<string, string>
  /** By URI with the anchor as its fragment. */
  readonly anchors: Map<string, GrowingNode>
  readonly references: Reference[]
  /** The first thing that is wrong, as a sentence. */
  wrong: string | null
}

/** The base of a schema that does not name itself (RFC 3986, 5.1.4). */
const NAMELESS = 'schema:/'

const UNSUPPORTED = ['$async', '$data', '$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor']

/** Objects of members of the value, by name; the compiler leaves out the one name that is not safe. */
const BY_NAME = ['properties', 'patternProperties', 'dependentSchemas', 'dependentRequired', 'dependencies']

/** The root; or why it is refused, as a sentence. `schema` satisfies the dialect's own schema. */
export function readSchemaTree(dialect: Dialect, schema: JsonObject): Result<SchemaNode, string> {
  const growth: Growth = {
    dialect,
    nodes: new Map(),
    resources: new Map([[NAMELESS, '']]),
    anchors: new Map(),
    references: [],
    wrong: null,
  }
  const root = grow(growth, schema, '', NAMELESS)
  for (const reference of growth.references) reference.node.target = targetOf(growth, reference)
  return growth.wrong === null ? ok(root) : refuse(growth.wrong)
}

function grow(growth: Growth, schema: JsonObject | boolean, path: string, outerBase: string): GrowingNode {
  const node: GrowingNode = { path, schema, inside: [], target: null }
  growth.nodes.set(path, node)
  if (growth.nodes.size > MAX_SUBSCHEMAS) wrong(growth, `It has more than ${MAX_SUBSCHEMAS} schemas in it.`)
  if (typeof schema === 'boolean' || growth.wrong !== null) return node
  const ref = schema['$ref']
  // In draft-07 a `$ref` stands alone: what is beside it does not count, a `$id` included.
  const alone = growth.dialect === 'draft-07' && typeof ref === 'string'
  const base = alone ? outerBase : named(growth, node, schema, outerBase)
  inspect(growth, path, schema)
  if (typeof ref === 'string') growth.references.push({ node, base, ref })
  node.inside = placesIn(growth.dialect, schema).map((place) => {
    const inner = grow(growth, place.schema, pathOf(path, place), base)
    return { ...place, applies: alone ? 'nowhere' : place.applies, node: inner }
  })
  return node
}

function wrong(growth: Growth, reason: string): void {
  growth.wrong ??= reason
}

function inspect(growth: Growth, path: string, schema: JsonObject): void {
  for (const word of UNSUPPORTED) {
    if (Object.hasOwn(schema, word)) wrong(growth, `${at(path)} has ${word}, which is not supported.`)
  }
  const dialect = schema['$schema']
  if (dialect !== undefined && dialectOf(dialect) !== growth.dialect) {
    wrong(growth, `${at(path)} has another $schema than the whole.`)
  }
  for (const [name, value] of Object.entries(schema)) {
    if (!isObject(value)) continue
    if (BY_NAME.includes(name)) {
      if (!Object.hasOwn(value, '__proto__')) continue
      wrong(growth, `${at(path)} speaks in ${name} of a member named __proto__, which is not supported.`)
    } else if (keywordOf(growth.dialect, name)?.applies !== 'nowhere' && Object.hasOwn(value, '$data')) {
      wrong(growth, `${at(path)} has $data in ${shortened(name)}, which is not supported.`)
    }
  }
}

/** Notes what the schema is called, and returns the base of the references in it. */
function named(growth: Growth, node: GrowingNode, schema: JsonObject, outerBase: string): string {
  let base = outerBase
  const id = schema['$id']
  if (typeof id === 'string') {
    const [address, fragment] = divided(id)
    const uri = address === '' ? outerBase : resolved(address, outerBase)
    if (uri === undefined) {
      wrong(growth, `${at(node.path)} has a $id that is not a URI reference.`)
      return base
    }
    if (address !== '') {
      if (growth.resources.has(uri)) wrong(growth, `${at(node.path)} has the $id of another schema.`)
      growth.resources.set(uri, node.path)
      base = uri
    }
    // In draft-07 the fragment of a `$id` is what `$anchor` is in 2020-12.
    if (fragment !== '') anchor(growth, node, `${base}#${fragment}`)
  }
  const name = schema['$anchor']
  if (growth.dialect === '2020-12' && typeof name === 'string') anchor(growth, node, `${base}#${name}`)
  return base
}

function anchor(growth: Growth, node: GrowingNode, uri: string): void {
  if (growth.anchors.has(uri)) wrong(growth, `${at(node.path)} has the anchor of another schema.`)
  growth.anchors.set(uri, node)
}

function targetOf(growth: Growth, { node, base, ref }: Reference): SchemaNode | null {
  const [address, fragment] = divided(ref)
  const uri = address === '' ? base : resolved(address, base)
  const resource = uri === undefined ? undefined : growth.resources.get(uri)
  if (uri === undefined || resource === undefined) {
    wrong(growth, `${at(node.path)} has a $ref out of the schema; only what is in it can be referred to.`)
    return null
  }
  const target = inResource(growth, uri, resource, fragment)
  if (target === undefined) wrong(growth, `${at(node.path)} has a $ref to where no schema is.`)
  return target ?? null
}

function inResource(growth: Growth, uri: string, resource: string, fragment: string): SchemaNode | undefined {
  const name = decoded(fragment)
  if (name === undefined) return undefined
  if (name === '') return growth.nodes.get(resource)
  return name.startsWith('/') ? growth.nodes.get(`${resource}${name}`) : growth.anchors.get(`${uri}#${name}`)
}

function divided(reference: string): readonly [string, string] {
  const hash = reference.indexOf('#')
  return hash < 0 ? [reference, ''] : [reference.slice(0, hash), reference.slice(hash + 1)]
}

function resolved(address: string, base: string): string | undefined {
  try {
    return new URL(address, base).href
  } catch {
    return undefined
  }
}

function decoded(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return undefined
  }
}

function pathOf(outer: string, { keyword, key }: Place): string {
  return key === null ? `${outer}/${keyword}` : `${outer}/${keyword}/${escaped(String(key))}`
}

/** RFC 6901, 3. */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The schema and every one that stands in it, at any depth. */
export function allIn(root: SchemaNode): ReadonlySet<SchemaNode> {
  const nodes = new Set([root])
  for (const { inside } of nodes) for (const { node } of inside) nodes.add(node)
  return nodes
}

/** The place in words, to begin a sentence with. */
export function at(path: string): string {
  return path === '' ? 'The schema' : `The schema at ${shortened(path)}`
}
