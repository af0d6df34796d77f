/**
 * Instants as texts: ISO 8601 is written, RFC 3339 is read, by arithmetic: no clock, no leniency.
 *   T1. A date that does not exist (30 February, 29 February of a common year, hour 24) is no timestamp.
 *   T2. An offset is required; `-00:00` is UTC.
 *   T3. A leap second (23:59:60 UTC at the end of June or December) is the moment after 23:59:59.999….
 *   T4. Fractions finer than a millisecond compare exactly against whole milliseconds.
 *   T5. What is before the year 1 or after 9999 in UTC is none: not every store can hold it.
 * The only place in this room that names `Date`: formatting a given instant is pure, reading the clock is not.
 */

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

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/

/** Longer texts are refused unread: no honest timestamp has as many digits. */
const LONGEST_TEXT = 64

const START_OF_TIME_MS = -62_135_596_800_000
const END_OF_TIME_MS = 253_402_300_800_000

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/**
 * Milliseconds since 1970 in UTC. A fraction finer than a millisecond adds one half: against whole milliseconds, which
 * is all the ledger has, every such fraction compares alike. Undefined when the text is no RFC 3339 timestamp.
 */
export function parseTimestamp(text: string): number | undefined {
  if (text.length > LONGEST_TEXT) return undefined
  const match = RFC_3339.exec(text)
  if (match === null) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const offset = offsetMs(match[8], match[9], match[10])
  if (offset === undefined || month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 60) return undefined
  const minuteMs = daysSince1970(year, month, day) * DAY_MS + (hour * 60 + minute) * MINUTE_MS - offset
  if (second === 60 && !endsHalfYear(minuteMs)) return undefined
  const timeMs = second === 60 ? minuteMs + MINUTE_MS : minuteMs + second * 1000 + fractionMs(match[7] ?? '')
  return timeMs >= START_OF_TIME_MS && timeMs < END_OF_TIME_MS ? timeMs : undefined
}

function fractionMs(digits: string): number {
  const whole = Number(digits.slice(0, 3).padEnd(3, '0'))
  return /[1-9]/.test(digits.slice(3)) ? whole + 0.5 : whole
}

function offsetMs(
  sign: string | undefined,
  hours: string | undefined,
  minutes: string | undefined,
): number | undefined {
  if (sign === undefined) return 0
  const [hour, minute] = [Number(hours), Number(minutes)]
  if (hour > 23 || minute > 59) return undefined
  return (sign === '-' ? -1 : 1) * (hour * 60 + minute) * MINUTE_MS
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
}

function daysIn(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Days from civil: Howard Hinnant, "chrono-compatible low-level date algorithms". */
function daysSince1970(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

/** Whether the minute that begins then is the last of June or December in UTC. */
function endsHalfYear(minuteMs: number): boolean {
  const nextDay = (minuteMs + MINUTE_MS) / DAY_MS
  if (!Number.isInteger(nextDay)) return false
  const year = Math.floor(nextDay / 365.2425) + 1970
  return [year - 1, year, year + 1].some(
    (near) => nextDay === daysSince1970(near, 1, 1) || nextDay === daysSince1970(near, 7, 1),
  )
}
