/** The only place in this room that names `Date`: formatting a given instant is pure, reading the clock is not. */

/** ISO 8601 in UTC with milliseconds, from milliseconds since 1970. */
export function isoTimestamp(timeMs: number): string {
  return new Date(timeMs).toISOString()
}
