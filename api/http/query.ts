/**
 * The query of a request.
 *   Q1. An unknown or repeated parameter is refused (D16): a misspelt filter must not return unfiltered rows.
 *   Q2. One response reports all errors.
 *   Q3. A query with more parameters than any route has is refused before any of them is read.
 */
import { closest, distance } from 'fastest-levenshtein'
import type { Context } from 'hono'
import * as v from 'valibot'
import { type ErrorCode, type Invalid, invalidProblem, type Problem } from './problem.ts'
import { isVersioned } from './request-path.ts'

export interface Query {
  /** The value of a parameter; null where there is none, or where it was refused. */
  readonly value: (name: string) => string | null
  /** A value of a known form; null where there is none, or where it was refused. */
  readonly parsed: <T>(
    name: string,
    parse: (text: string) => T | undefined,
    code: ErrorCode,
    message: string,
  ) => T | null
  /** A value as its schema takes it; null where there is none, or where it was refused with the message of the schema. */
  readonly checked: <Schema extends v.GenericSchema>(
    name: string,
    schema: Schema,
    code: ErrorCode,
  ) => v.InferOutput<Schema> | null
  readonly reject: (name: string, code: ErrorCode, message: string) => void
  /** Undefined while nothing was refused. */
  readonly problem: () => Problem | undefined
}

/** More than the parameters of any route. */
const MAX_PARAMETERS = 64
/** Longer names are not compared with others. */
const MAX_COMPARED_LENGTH = 64
/** Edit distance of a likely typing error. */
const MAX_EDITS = 3

export interface QueriedRoute {
  readonly path: string
  /** The names of its parameters. */
  readonly query: readonly string[]
}

/** Outside /v1 an unknown parameter is ignored: probes and browsers add their own. */
export function queryOf({ path, query }: QueriedRoute, { req }: Context): Query {
  return readQuery(req.url, query, isVersioned(path) ? 'refused' : 'ignored')
}

/** `known`: the parameters of the route. `others`: how to treat any other. */
function readQuery(url: string, known: readonly string[], others: 'refused' | 'ignored'): Query {
  const text = sentQuery(url)
  const countable = others === 'refused' && hasFewParameters(text)
  const parameters = new URLSearchParams(countable ? text : '')
  const invalid: Invalid[] = []
  const unreadable = new Set<string>()

  const query: Query = {
    value: (name) => (unreadable.has(name) ? null : parameters.get(name)),
    parsed(name, parse, code, message) {
      const text = query.value(name)
      if (text === null) return null
      const value = parse(text)
      if (value !== undefined) return value
      query.reject(name, code, message)
      return null
    },
    checked(name, schema, code) {
      const text = query.value(name)
      if (text === null) return null
      const read = v.safeParse(schema, text)
      if (read.success) return read.output
      query.reject(name, code, read.issues[0].message)
      return null
    },
    reject(name, code, message) {
      // Of a parameter that cannot be read no more is said.
      if (unreadable.has(name)) return
      invalid.push({ field: name === '' ? 'query' : name, code, message })
    },
    problem() {
      return invalid.length === 0 ? undefined : invalidProblem('invalid-request', invalid)
    },
  }
  for (const name of new Set(parameters.keys())) {
    const fault = faultOf(name, parameters.getAll(name), known)
    if (fault === undefined) continue
    query.reject(name, 'ERR_INVALID_QUERY', fault)
    unreadable.add(name)
  }
  if (others === 'refused' && !countable) {
    query.reject('', 'ERR_INVALID_QUERY', `has more than ${MAX_PARAMETERS} parameters`)
  }
  return query
}

function sentQuery(url: string): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

/** Q3. */
function hasFewParameters(text: string): boolean {
  let place = -1
  for (let found = 0; found < MAX_PARAMETERS; found += 1) {
    place = text.indexOf('&', place + 1)
    if (place < 0) return true
  }
  return false
}

function faultOf(name: string, values: readonly string[], known: readonly string[]): string | undefined {
  if (!known.includes(name)) return `is not a parameter of this request${suggestion(name, known)}`
  if (values.length > 1) return 'is repeated'
  // No identifier holds a NUL, and no store takes one.
  return values[0]?.includes('\0') === true ? 'holds a NUL' : undefined
}

function suggestion(name: string, known: readonly string[]): string {
  if (known.length === 0 || name.length > MAX_COMPARED_LENGTH) return ''
  const nearest = closest(name, known)
  return distance(name, nearest) <= Math.min(MAX_EDITS, nearest.length / 2) ? `: did you mean ${nearest}?` : ''
}
