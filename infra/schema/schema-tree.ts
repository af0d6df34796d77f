/**
 * The tree of a schema's subschemas, with the target of each `$ref`.
 *   T1. Schemas are refused if they refer to another document, use dynamic references, or have keywords of ajv's own.
 *   T2. `$id`, `$anchor` and `$ref` are resolved here once.
 */
import type { JsonObject } from '../../actors/canonical-json.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import { type Dialect, dialectOf, isObject, keywordOf, type Place, placesIn } from './dialect.ts'
import { MAX_SUBSCHEMAS } from './limits.ts'
import { shortened } from './shortened.ts'

export interface SchemaNode {
  /** A JSON pointer. */
  readonly path: string
  readonly schema: JsonObject | boolean
  readonly inside: readonly Inside[]
  /** The target of its `$ref`. */
  readonly target: SchemaNode | null
}

export interface Inside extends Place {
  readonly node: SchemaNode
}

/** A node under construction: references are resolved after all `$id`s are known. */
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
  /** The first reason for a refusal, as a sentence. */
  refusal: string | null
}

/** The base of a schema that does not name itself (RFC 3986, 5.1.4). */
const NAMELESS = 'schema:/'

const UNSUPPORTED = ['$async', '$data', '$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor']

/** Keywords whose members are named after members of the value. */
const BY_NAME = ['properties', 'patternProperties', 'dependentSchemas', 'dependentRequired', 'dependencies']

/** `schema` satisfies its meta-schema. The error is the reason for the refusal, as a sentence. */
export function readSchemaTree(dialect: Dialect, schema: JsonObject): Result<SchemaNode, string> {
  const growth: Growth = {
    dialect,
    nodes: new Map(),
    resources: new Map([[NAMELESS, '']]),
    anchors: new Map(),
    references: [],
    refusal: null,
  }
  const root = grow(growth, schema, '', NAMELESS)
  for (const reference of growth.references) reference.node.target = targetOf(growth, reference)
  return growth.refusal === null ? ok(root) : refuse(growth.refusal)
}

function grow(growth: Growth, schema: JsonObject | boolean, path: string, outerBase: string): GrowingNode {
  const node: GrowingNode = { path, schema, inside: [], target: null }
  growth.nodes.set(path, node)
  if (growth.nodes.size > MAX_SUBSCHEMAS) refuseSchema(growth, `It has more than ${MAX_SUBSCHEMAS} schemas in it.`)
  if (typeof schema === 'boolean' || growth.refusal !== null) return node
  const ref = schema['$ref']
  // In draft-07 a `$ref` hides the keywords beside it, `$id` included.
  const hidesOthers = growth.dialect === 'draft-07' && typeof ref === 'string'
  const base = hidesOthers ? outerBase : registerNames(growth, node, schema, outerBase)
  inspect(growth, path, schema)
  if (typeof ref === 'string') growth.references.push({ node, base, ref })
  node.inside = placesIn(growth.dialect, schema).map((place) => {
    const inner = grow(growth, place.schema, pathOf(path, place), base)
    return { ...place, applies: hidesOthers ? 'nowhere' : place.applies, node: inner }
  })
  return node
}

function refuseSchema(growth: Growth, reason: string): void {
  growth.refusal ??= reason
}

function inspect(growth: Growth, path: string, schema: JsonObject): void {
  for (const word of UNSUPPORTED) {
    if (Object.hasOwn(schema, word)) refuseSchema(growth, `${at(path)} has ${word}, which is not supported.`)
  }
  const dialect = schema['$schema']
  if (dialect !== undefined && dialectOf(dialect) !== growth.dialect) {
    refuseSchema(growth, `${at(path)} has another $schema than the root.`)
  }
  for (const [name, value] of Object.entries(schema)) {
    if (!isObject(value)) continue
    if (BY_NAME.includes(name)) {
      if (!Object.hasOwn(value, '__proto__')) continue
      refuseSchema(growth, `${at(path)} has a member named __proto__ in ${name}, which is not supported.`)
    } else if (keywordOf(growth.dialect, name)?.applies !== 'nowhere' && Object.hasOwn(value, '$data')) {
      refuseSchema(growth, `${at(path)} has $data in ${shortened(name)}, which is not supported.`)
    }
  }
}

/** Registers the schema's `$id` and `$anchor`, and returns the base URI of its references. */
function registerNames(growth: Growth, node: GrowingNode, schema: JsonObject, outerBase: string): string {
  let base = outerBase
  const id = schema['$id']
  if (typeof id === 'string') {
    const [address, fragment] = split(id)
    const uri = address === '' ? outerBase : resolve(address, outerBase)
    if (uri === undefined) {
      refuseSchema(growth, `${at(node.path)} has a $id that is not a URI reference.`)
      return base
    }
    if (address !== '') {
      if (growth.resources.has(uri)) refuseSchema(growth, `${at(node.path)} has the $id of another schema.`)
      growth.resources.set(uri, node.path)
      base = uri
    }
    // In draft-07 the fragment of a `$id` is an anchor.
    if (fragment !== '') registerAnchor(growth, node, `${base}#${fragment}`)
  }
  const name = schema['$anchor']
  if (growth.dialect === '2020-12' && typeof name === 'string') registerAnchor(growth, node, `${base}#${name}`)
  return base
}

function registerAnchor(growth: Growth, node: GrowingNode, uri: string): void {
  if (growth.anchors.has(uri)) refuseSchema(growth, `${at(node.path)} has the anchor of another schema.`)
  growth.anchors.set(uri, node)
}

function targetOf(growth: Growth, { node, base, ref }: Reference): SchemaNode | null {
  const [address, fragment] = split(ref)
  const uri = address === '' ? base : resolve(address, base)
  const resource = uri === undefined ? undefined : growth.resources.get(uri)
  if (uri === undefined || resource === undefined) {
    refuseSchema(
      growth,
      `${at(node.path)} has a $ref to another document. Only references within the schema are supported.`,
    )
    return null
  }
  const target = inResource(growth, uri, resource, fragment)
  if (target === undefined) refuseSchema(growth, `${at(node.path)} has a $ref to a place without a schema.`)
  return target ?? null
}

function inResource(growth: Growth, uri: string, resource: string, fragment: string): SchemaNode | undefined {
  const name = decode(fragment)
  if (name === undefined) return undefined
  if (name === '') return growth.nodes.get(resource)
  return name.startsWith('/') ? growth.nodes.get(`${resource}${name}`) : growth.anchors.get(`${uri}#${name}`)
}

function split(reference: string): readonly [string, string] {
  const hash = reference.indexOf('#')
  return hash < 0 ? [reference, ''] : [reference.slice(0, hash), reference.slice(hash + 1)]
}

function resolve(address: string, base: string): string | undefined {
  try {
    return new URL(address, base).href
  } catch {
    return undefined
  }
}

function decode(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return undefined
  }
}

function pathOf(outer: string, { keyword, key }: Place): string {
  return key === null ? `${outer}/${keyword}` : `${outer}/${keyword}/${escapeToken(String(key))}`
}

/** RFC 6901, 3. */
function escapeToken(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The node and its descendants. */
export function allIn(root: SchemaNode): ReadonlySet<SchemaNode> {
  const nodes = new Set([root])
  for (const { inside } of nodes) for (const { node } of inside) nodes.add(node)
  return nodes
}

/** The subject of a sentence about the node. */
export function at(path: string): string {
  return path === '' ? 'The schema' : `The schema at ${shortened(path)}`
}
