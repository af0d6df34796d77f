/**
 * The formats of the standard, all of them asserted (2020-12, Validation, 7.3); one that the standard does not know says
 * nothing. Those of URIs and of e-mail are of ajv-formats, the rest is written out here: what ajv-formats takes beyond the
 * standard (a space between date and time, `urn:uuid:`, an offset without minutes, a host name with a dot at its end) is
 * refused here.
 */
import { isIPv4, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import type { Fuel } from './fuel.ts'
import { isPattern } from './patterns.ts'

export type FormatTest = (text: string) => boolean

/** RFC 5321, 4.5.3.1: 64 before the sign, 255 behind it; twice that where characters are more than one byte. */
const MAX_EMAIL_LENGTH = 640
/** RFC 1035, 2.3.4, without the dot of the root. */
const MAX_HOSTNAME_LENGTH = 253

/** Every one of them is linear. */
const CHARACTERS_A_STEP = 8

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i
/** RFC 3339, appendix A: a unit may only be left out at either end. */
const DURATION =
  /^P(?:\d+W|(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)(?:T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?|T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))$/
const JSON_POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/
const RELATIVE_POINTER = /^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/
/** RFC 3987, 2.2: what an IRI may hold that a URI may not. */
const IRI_CHARACTER = /[\u{a0}-\u{d7ff}\u{f900}-\u{fdcf}\u{fdf0}-\u{ffef}\u{10000}-\u{effff}]/gu
const NOT_ASCII = /\P{ASCII}/gu

const TESTS: ReadonlyMap<string, FormatTest> = new Map([
  ['date-time', isDateTime],
  ['date', isDate],
  ['time', isTime],
  ['duration', (text) => DURATION.test(text)],
  ['email', isEmail],
  ['idn-email', (text) => isEmail(text.replace(NOT_ASCII, 'a'))],
  ['hostname', isHostname],
  ['idn-hostname', isIdnHostname],
  ['ipv4', isIPv4],
  ['ipv6', (text) => isIPv6(text) && !text.includes('%')],
  ['uri', isUri],
  ['uri-reference', isUriReference],
  ['iri', (text) => isUri(text.replace(IRI_CHARACTER, 'a'))],
  ['iri-reference', (text) => isUriReference(text.replace(IRI_CHARACTER, 'a'))],
  ['uri-template', (text) => testOf('uri-template')(text)],
  ['uuid', (text) => UUID.test(text)],
  ['json-pointer', (text) => JSON_POINTER.test(text)],
  ['relative-json-pointer', (text) => RELATIVE_POINTER.test(text)],
  ['regex', isPattern],
])

/** undefined: the standard has no such format. */
export function formatTest(name: string): FormatTest | undefined {
  return TESTS.get(name)
}

/** What the compiler is given. */
export function formatsFor(fuel: Fuel): Readonly<Record<string, FormatTest>> {
  return Object.fromEntries(
    [...TESTS].map(([name, test]): [string, FormatTest] => [
      name,
      (text) => {
        fuel.spend(1 + text.length / CHARACTERS_A_STEP)
        return test(text)
      },
    ]),
  )
}

function isDateTime(text: string): boolean {
  // The date has ten characters; what parts it from the time is a T, in either case.
  return (text[10] === 'T' || text[10] === 't') && isDate(text.slice(0, 10)) && isTime(text.slice(11))
}

function isDate(text: string): boolean {
  const [, year = '', month = '', day = ''] = DATE.exec(text) ?? []
  return day !== '' && Number(day) >= 1 && Number(day) <= daysIn(Number(year), Number(month))
}

function daysIn(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
}

function isTime(text: string): boolean {
  const found = TIME.exec(text)
  if (found === null) return false
  const [hour = 0, minute = 0, second = 0] = found.slice(1, 4).map(Number)
  const [offsetHour, offsetMinute] = [Number(found[5] ?? 0), Number(found[6] ?? 0)]
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false
  if (second < 60) return true
  // A leap second is the last of a day in UTC.
  const offset = (found[4] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute)
  return (hour * 60 + minute - offset + 2 * 1_440) % 1_440 === 1_439
}

function isEmail(text: string): boolean {
  return text.length <= MAX_EMAIL_LENGTH && testOf('email')(text)
}

function isHostname(text: string): boolean {
  return text.length <= MAX_HOSTNAME_LENGTH && text.split('.').every((label) => LABEL.test(label))
}

function isIdnHostname(text: string): boolean {
  // Of a name that IDNA does not allow, nothing is left.
  return text.length <= MAX_HOSTNAME_LENGTH && isHostname(domainToASCII(text))
}

function isUri(text: string): boolean {
  return testOf('uri')(text)
}

function isUriReference(text: string): boolean {
  return testOf('uri-reference')(text)
}

function testOf(name: 'email' | 'uri' | 'uri-reference' | 'uri-template'): FormatTest {
  const format = fullFormats[name]
  if (format instanceof RegExp) return (text) => format.test(text)
  if (typeof format === 'function') return format
  throw new Error(`ajv-formats has another kind of format "${name}" than was expected`)
}
