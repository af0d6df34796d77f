/** The only place in this room that names `Date`: formatting a given instant is pure, reading the clock is not. */

let lastMs = 0
let lastText = new Date(0).toISOString()

/**
 * ISO 8601 in UTC with milliseconds, from milliseconds since 1970. Throws a RangeError for a time that is none. What a
 * batch writes has few different times: the last is remembered.
 */
export function isoTimestamp(timeMs: number): string {
  if (timeMs !== lastMs) {
    lastText = new Date(timeMs).toISOString()
    lastMs = timeMs
  }
  return lastText
}

const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/i

/** Year 10000, which neither four digits nor every store can hold. */
const END_OF_TIME_MS = 253_402_300_800_000

/**
 * Milliseconds since 1970 of an RFC 3339 date-time with offset, fractions of a millisecond included as far as a
 * number holds them; undefined when it is none (30 February, 24:00 and leap seconds that clocks do not have included).
 */
export function parseTimestamp(text: string): number | undefined {
  const match = RFC_3339.exec(text)
  if (match === null || text.length > 64) return undefined
  const [, year, month, day, hour, minute, second, fraction = '', offset = 'Z'] = match
  const wholeMs = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second))
  const read = isoTimestampOrEmpty(wholeMs)
  if (read.slice(0, 19) !== `${year}-${month}-${day}T${hour}:${minute}:${second}`) return undefined
  const offsetMs = offsetOf(offset)
  if (offsetMs === undefined) return undefined
  const timeMs = wholeMs - offsetMs + Number(`0${fraction}`) * 1000
  return timeMs < END_OF_TIME_MS ? timeMs : undefined
}

function isoTimestampOrEmpty(timeMs: number): string {
  return Number.isFinite(timeMs) ? isoTimestamp(timeMs) : ''
}

function offsetOf(offset: string): number | undefined {
  if (offset === 'Z' || offset === 'z') return 0
  const hours = Number(offset.slice(1, 3))
  const minutes = Number(offset.slice(4, 6))
  if (hours > 23 || minutes > 59) return undefined
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000
}
