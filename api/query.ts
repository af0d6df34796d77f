/** The query of a request: known parameters are read once each, what is wrong is collected, unknown ones are ignored. */
import { type ErrorCode, type Invalid, invalidProblem, type Problem } from './problem.ts'

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
  readonly reject: (name: string, code: ErrorCode, message: string) => void
  /** Undefined while nothing was refused. */
  readonly problem: () => Problem | undefined
}

export function readQuery(url: string): Query {
  const start = url.indexOf('?')
  const parameters = new URLSearchParams(start < 0 ? '' : url.slice(start + 1))
  const invalid: Invalid[] = []

  const query: Query = {
    value(name) {
      const values = parameters.getAll(name)
      if (values.length > 1) query.reject(name, 'ERR_INVALID_QUERY', 'stands more than once')
      // No identifier holds a NUL, and no store takes one.
      else if (values[0]?.includes('\0') === true) query.reject(name, 'ERR_INVALID_QUERY', 'holds a NUL')
      else return values[0] ?? null
      return null
    },
    parsed(name, parse, code, message) {
      const text = query.value(name)
      if (text === null) return null
      const value = parse(text)
      if (value !== undefined) return value
      query.reject(name, code, message)
      return null
    },
    reject(name, code, message) {
      invalid.push({ field: name, code, message })
    },
    problem() {
      return invalid.length === 0 ? undefined : invalidProblem('invalid-request', invalid)
    },
  }
  return query
}
