/** The two supported versions of JSON Schema: their keywords, and the subschemas in each keyword. */
import type { Json, JsonObject } from '../../actors/canonical-json.ts'

export type Dialect = '2020-12' | 'draft-07'

/**
 * The value that a keyword's subschemas apply to. `here`: the same value; `below`: a part of it; `nowhere`: none, they are
 * only targets of references. `plain`: the keyword has no subschemas.
 */
export type Applies = 'here' | 'below' | 'nowhere' | 'plain'

/** `one`: a schema; `list`: an array of schemas; `named`: an object of schemas. Draft-07 allows two shapes for some. */
export interface Keyword {
  readonly applies: Applies
  readonly shapes: readonly ('one' | 'list' | 'named')[]
}

/** The position of a subschema. */
export interface Place {
  readonly keyword: string
  /** The member's name in `named`, the index in `list`. */
  readonly key: string | number | null
  readonly applies: Exclude<Applies, 'plain'>
  readonly schema: JsonObject | boolean
}

const keyword = (applies: Applies, ...shapes: Keyword['shapes']): Keyword => ({ applies, shapes })

const PLAIN = keyword('plain')
const HERE = keyword('here', 'one')
const ALL_HERE = keyword('here', 'list')
const BELOW = keyword('below', 'one')
const NAMED_BELOW = keyword('below', 'named')
const NAMED_NOWHERE = keyword('nowhere', 'named')

const COMMON: readonly (readonly [string, Keyword])[] = [
  ...[
    ['type', 'enum', 'const', 'format', 'pattern', 'minLength', 'maxLength'],
    ['multipleOf', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
    ['minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties', 'required'],
  ].flatMap((names) => names.map((name): [string, Keyword] => [name, PLAIN])),
  ['allOf', ALL_HERE],
  ['anyOf', ALL_HERE],
  ['oneOf', ALL_HERE],
  ['not', HERE],
  ['if', HERE],
  ['then', HERE],
  ['else', HERE],
  ['properties', NAMED_BELOW],
  ['patternProperties', NAMED_BELOW],
  ['additionalProperties', BELOW],
  ['propertyNames', BELOW],
  ['contains', BELOW],
  // Published schemas often use the other draft's keyword, so both are read in both.
  ['$defs', NAMED_NOWHERE],
  ['definitions', NAMED_NOWHERE],
]

const KEYWORDS: Readonly<Record<Dialect, ReadonlyMap<string, Keyword>>> = {
  '2020-12': new Map([
    ...COMMON,
    ['minContains', PLAIN],
    ['maxContains', PLAIN],
    ['dependentRequired', PLAIN],
    ['dependentSchemas', keyword('here', 'named')],
    ['prefixItems', keyword('below', 'list')],
    ['items', BELOW],
    ['unevaluatedItems', BELOW],
    ['unevaluatedProperties', BELOW],
    ['contentSchema', keyword('nowhere', 'one')],
  ]),
  'draft-07': new Map([
    ...COMMON,
    // A member that is a list has names of members, and no subschemas.
    ['dependencies', keyword('here', 'named')],
    ['items', keyword('below', 'one', 'list')],
    ['additionalItems', BELOW],
  ]),
}

const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
  ['http://json-schema.org/draft-07/schema', 'draft-07'],
])

/** The dialect that `$schema` names; undefined if it is not supported. */
export function dialectOf(name: Json | undefined): Dialect | undefined {
  if (name === undefined) return '2020-12'
  return typeof name === 'string' ? DIALECTS.get(name.replace(/#$/, '')) : undefined
}

/** undefined: the dialect has no such keyword, so it is an annotation. */
export function keywordOf(dialect: Dialect, name: string): Keyword | undefined {
  return KEYWORDS[dialect].get(name)
}

/** The direct subschemas, in the order of the schema. Values of another shape are skipped. */
export function placesIn(dialect: Dialect, schema: JsonObject): readonly Place[] {
  return Object.entries(schema).flatMap(([name, value]) => {
    const rule = keywordOf(dialect, name)
    if (rule === undefined || rule.applies === 'plain') return []
    const { applies } = rule
    return placesOf(rule, value).map(([key, inner]): Place => ({ keyword: name, key, applies, schema: inner }))
  })
}

function placesOf(
  { shapes }: Keyword,
  value: Json,
): readonly (readonly [string | number | null, JsonObject | boolean])[] {
  if (isList(value)) {
    return shapes.includes('list') ? value.flatMap((one, index) => (isSchema(one) ? [[index, one] as const] : [])) : []
  }
  if (shapes.includes('named')) {
    if (!isObject(value)) return []
    return Object.entries(value).flatMap(([name, one]) => (isSchema(one) ? [[name, one] as const] : []))
  }
  return shapes.includes('one') && isSchema(value) ? [[null, value]] : []
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

function isSchema(value: Json): value is JsonObject | boolean {
  return typeof value === 'boolean' || isObject(value)
}
