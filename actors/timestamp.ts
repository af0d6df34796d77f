/**
 * Instants as texts: writes ISO 8601 and reads RFC 3339, strictly, without a clock.
 *   T1. A date that does not exist (30 February, 29 February of a common year, hour 24) is no timestamp.
 *   T2. An offset is required; `-00:00` is UTC.
 *   T3. A leap second (23:59:60 UTC at the end of June or December) is the moment after 23:59:59.999….
 *   T4. Fractions finer than a millisecond compare exactly against whole milliseconds.
 *   T5. A time before the year 1 or after 9999 in UTC is no timestamp: not every store can hold it.
 * Only this file of actors/ names `Date`: formatting an instant is pure, reading the clock is not.
 */

let lastMs = 0
let lastText = new Date(0).toISOString()

/**
 * ISO 8601 in UTC with milliseconds, from milliseconds since 1970. Throws a RangeError for an invalid time. Caches the
 * last text, since a batch has few different times.
 */
export function isoTimestamp(timeMs: number): string {
  if (timeMs !== lastMs) {
    lastText = new Date(timeMs).toISOString()
    lastMs = timeMs
  }
  return lastText
}

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/

/** Longer texts are refused unread: no real timestamp is so long. */
const LONGEST_TEXT = 64

const START_OF_TIME_MS = -62_135_596_800_000
const END_OF_TIME_MS = 253_402_300_800_000

const MINUTE_MS = 60_000
/** The Gregorian calendar repeats after 400 years. */
const CALENDAR_YEARS = 400
const CALENDAR_MS = 146_097 * 86_400_000
/** The last minute of June or December. */
const HALF_YEARS_END = /-(06-30|12-31)T23:59:/

/**
 * Milliseconds since 1970 in UTC. A fraction finer than a millisecond adds one half: compared with whole milliseconds,
 * the ledger's precision, all such fractions are alike. Undefined if the text is no RFC 3339 timestamp.
 */
export function parseTimestamp(text: string): number | undefined {
  if (text.length > LONGEST_TEXT) return undefined
  const match = RFC_3339.exec(text)
  if (match === null) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number)
  const offset = offsetMs(match[8], match[9], match[10])
  if (offset === undefined || hour > 23 || minute > 59 || second > 60) return undefined
  // `Date.UTC` maps the years 0 to 99 to 1900 to 1999.
  const date = new Date(Date.UTC(year + CALENDAR_YEARS, month - 1, day))
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  const minuteMs = date.getTime() - CALENDAR_MS + (hour * 60 + minute) * MINUTE_MS - offset
  if (second === 60 && !HALF_YEARS_END.test(new Date(minuteMs).toISOString())) return undefined
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
