/** The two versions of JSON Schema that are understood: which keywords each has, and where schemas stand inside them. */
import type { Json, JsonObject } from '../../actors/canonical-json.ts'

export type Dialect = '2020-12' | 'draft-07'

/**
 * Where the schemas inside a keyword apply. `here`: to the same value; `below`: to a part of it; `nowhere`: they only stand
 * there to be referred to. `plain`: there are none.
 */
export type Applies = 'here' | 'below' | 'nowhere' | 'plain'

/** `one`: a schema; `list`: an array of them; `named`: an object of them. Draft-07 lets some be two of these. */
export interface Keyword {
  readonly applies: Applies
  readonly shapes: readonly ('one' | 'list' | 'named')[]
}

/** Where a schema stands inside another. */
export interface Place {
  readonly keyword: string
  /** The member of `named`, the index of `list`. */
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
  // Either draft's word is read in the other as well: both are used with the wrong one everywhere.
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
    // A list stands for names, and there is nothing to find in it.
    ['dependencies', keyword('here', 'named')],
    ['items', keyword('below', 'one', 'list')],
    ['additionalItems', BELOW],
  ]),
}

const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
  ['http://json-schema.org/draft-07/schema', 'draft-07'],
])

/** What `$schema` names; undefined when it is another. */
export function dialectOf(name: Json | undefined): Dialect | undefined {
  if (name === undefined) return '2020-12'
  return typeof name === 'string' ? DIALECTS.get(name.replace(/#$/, '')) : undefined
}

/** undefined: the dialect has no such keyword, so that it says nothing about a value. */
export function keywordOf(dialect: Dialect, name: string): Keyword | undefined {
  return KEYWORDS[dialect].get(name)
}

/** All that stand directly inside, in the order of the schema; what is not of a keyword's shape is passed over. */
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
