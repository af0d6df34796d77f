/** Points in time as query parameters. */
import * as v from 'valibot'
import { parseTimestamp } from '../../actors/timestamp.ts'
import type { Query } from '../http/query.ts'
import type { Parameter } from './operation.ts'

const RULE = 'must be an RFC 3339 timestamp with an offset'

export const TIME = v.pipe(v.string(), v.metadata({ format: 'date-time' }))

/** Milliseconds since 1970, possibly fractional; null: absent or refused. */
export function timeIn(query: Query, name: string): number | null {
  return query.parsed(name, parseTime, 'ERR_INVALID_TIMESTAMP', RULE)
}

/** As `timeIn`, for a time that must not lie in the future: what has not happened has no answer. */
export function pastTimeIn(query: Query, name: string, nowMs: number): number | null {
  const timeMs = timeIn(query, name)
  if (timeMs === null || timeMs <= nowMs) return timeMs
  query.reject(name, 'ERR_INVALID_TIMESTAMP', 'must not lie in the future')
  return null
}

/** The `+` of an offset that was not percent-encoded arrives as a space: nothing else in a timestamp can be one. */
function parseTime(text: string): number | undefined {
  return parseTimestamp(text.replace(/ (?=\d\d:\d\d$)/, '+'))
}

export const AS_OF: Parameter = {
  name: 'as_of',
  in: 'query',
  description: 'The balance at this time, not in the future: RFC 3339 with an offset.',
  schema: TIME,
}
