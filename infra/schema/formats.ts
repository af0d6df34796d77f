/**
 * The formats of JSON Schema, all of them asserted (2020-12, Validation, 7.3). A format that the standard does not define
 * accepts every value. The format tests of the official JSON Schema test suite pass without exception.
 */
import { isIPv4, isIPv6 } from 'node:net'
import * as identifiers from '@hyperjump/uri'
import idn from 'idn-hostname'
import { isPattern } from './pattern-reader.ts'
import type { Steps } from './steps.ts'

export type FormatTest = (text: string) => boolean

/** RFC 5321, 4.5.3.1: 64 octets before the sign, 255 after it; doubled for characters of more than one octet. */
const MAX_EMAIL_LENGTH = 640
/** RFC 1035, 2.3.4, without the dot of the root. */
const MAX_HOSTNAME_LENGTH = 253
/** A host name with decomposed characters is longer than its ASCII form: Hangul has three code points a syllable. */
const MAX_IDN_HOSTNAME_LENGTH = 4 * MAX_HOSTNAME_LENGTH

const STEPS_PER_TEST = 4
/** Every test takes linear time. */
const CHARACTERS_PER_STEP = 8
/** Cost of a character of a host name that IDNA checks: about 20 µs. */
const STEPS_PER_IDN_CHARACTER = 400

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i
/** Label separators (RFC 3490, 3.1). A final one names the root, which the format `hostname` excludes. */
const ENDS_WITH_SEPARATOR = /[.\u3002\uff0e\uff61]$/
/** RFC 5321, 4.1.2: Dot-string or Quoted-string. */
const LOCAL_PART =
  /^(?:[\w!#$%&'*+\-/=?^`{|}~]+(?:\.[\w!#$%&'*+\-/=?^`{|}~]+)*|"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*")$/
/** RFC 5321, 4.1.3: no tag other than IPv6 is registered. */
const ADDRESS_LITERAL = /^\[(?:IPv6:(.*)|(.*))\]$/i
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i
/** RFC 3339, appendix A: a unit may only be left out at either end. */
const DURATION =
  /^P(?:\d+W|(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)(?:T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?|T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))$/
const JSON_POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/
const RELATIVE_POINTER = /^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/
const IS_ASCII = /^\p{ASCII}*$/u
const NOT_ASCII = /\P{ASCII}/gu
const URI_TEMPLATE = uriTemplatePattern()

const TESTS: ReadonlyMap<string, FormatTest> = new Map([
  ['date-time', isDateTime],
  ['date', isDate],
  ['time', isTime],
  ['duration', (text) => DURATION.test(text)],
  ['email', (text) => isMailbox(text, isHostname)],
  ['idn-email', (text) => isMailbox(text, isIdnHostname)],
  ['hostname', (text) => isHostname(text) && isIdnHostname(text)],
  ['idn-hostname', isIdnHostname],
  ['ipv4', isIPv4],
  ['ipv6', isIPv6Address],
  ['uri', identifier(identifiers.isUri)],
  ['uri-reference', identifier(identifiers.isUriReference)],
  ['iri', identifier(identifiers.isIri)],
  ['iri-reference', identifier(identifiers.isIriReference)],
  ['uri-template', (text) => URI_TEMPLATE.test(text)],
  ['uuid', (text) => UUID.test(text)],
  ['json-pointer', (text) => JSON_POINTER.test(text)],
  ['relative-json-pointer', (text) => RELATIVE_POINTER.test(text)],
  ['regex', isPattern],
])

/** In steps. */
const COSTS: ReadonlyMap<string, (text: string) => number> = new Map([
  ['hostname', hostnameCost],
  ['idn-hostname', hostnameCost],
  ['idn-email', hostnameCost],
  ['regex', (text) => text.length],
])

/** undefined: the standard has no such format. The test spends `steps`. */
export function formatTest(name: string, steps: Steps): FormatTest | undefined {
  const test = TESTS.get(name)
  if (test === undefined) return undefined
  const cost = COSTS.get(name) ?? plainCost
  return (text) => {
    steps.spend(STEPS_PER_TEST + cost(text))
    return test(text)
  }
}

/** For the meta-schemas: a schema has bounded bytes, so that its formats need no count. */
export const FORMAT_TESTS: Readonly<Record<string, FormatTest>> = Object.fromEntries(TESTS)

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

/** RFC 5321, 4.1.2; RFC 6531, 3.3, allows characters outside ASCII in either part. */
function isMailbox(text: string, isDomain: FormatTest): boolean {
  const sign = text.lastIndexOf('@')
  if (sign < 0 || text.length > MAX_EMAIL_LENGTH) return false
  const domain = text.slice(sign + 1)
  const isInternational = isDomain === isIdnHostname
  const localPart = isInternational ? text.slice(0, sign).replace(NOT_ASCII, 'a') : text.slice(0, sign)
  return LOCAL_PART.test(localPart) && (isDomain(domain) || isAddressLiteral(domain))
}

function isAddressLiteral(text: string): boolean {
  const [, ipv6, ipv4 = ''] = ADDRESS_LITERAL.exec(text) ?? []
  return ipv6 === undefined ? isIPv4(ipv4) : isIPv6Address(ipv6)
}

/** A zone is no part of an address (RFC 4291, 2.2). */
function isIPv6Address(text: string): boolean {
  return isIPv6(text) && !text.includes('%')
}

/** RFC 1123, 2.1. */
function isHostname(text: string): boolean {
  return text.length <= MAX_HOSTNAME_LENGTH && text.split('.').every((label) => LABEL.test(label))
}

/** RFC 5890, 2.3.2.3. Labels with `xn--` of an ASCII name are checked against IDNA 2008 as well. */
function isIdnHostname(text: string): boolean {
  if (!isForIdna(text)) return isHostname(text)
  if (text.length > MAX_IDN_HOSTNAME_LENGTH || ENDS_WITH_SEPARATOR.test(text)) return false
  try {
    return idn.isIdnHostname(text)
  } catch (error) {
    // The library reports an invalid name by this kind of error.
    if (error instanceof SyntaxError) return false
    throw error
  }
}

/** RFC 5890, 2.3.1: an ASCII label without hyphens in its third and fourth place has no meaning beyond its letters. */
function isForIdna(text: string): boolean {
  return text.includes('--') || !IS_ASCII.test(text)
}

function plainCost(text: string): number {
  return text.length / CHARACTERS_PER_STEP
}

function hostnameCost(text: string): number {
  return text.length <= MAX_IDN_HOSTNAME_LENGTH && isForIdna(text)
    ? text.length * STEPS_PER_IDN_CHARACTER
    : plainCost(text)
}

/** RFC 6570, 2, with erratum 6937, which allows the apostrophe in literals. */
function uriTemplatePattern(): RegExp {
  const encoded = '%[0-9A-Fa-f]{2}'
  const others = '\\u{a0}-\\u{d7ff}\\u{e000}-\\u{fdcf}\\u{fdf0}-\\u{ffef}\\u{10000}-\\u{10fffd}'
  const literal = `(?:[!#$&-;=?-\\[\\]_a-z~${others}]|${encoded})`
  const variable = `(?:\\w|${encoded})(?:\\.?(?:\\w|${encoded}))*(?::[1-9]\\d{0,3}|\\*)?`
  const expression = `\\{[+#./;?&=,!@|]?${variable}(?:,${variable})*\\}`
  return new RegExp(`^(?:${literal}|${expression})*$`, 'u')
}

/** The library throws for an IP address of an unknown version as host: RFC 3986, 3.2.2, allows that. */
function identifier(isValid: FormatTest): FormatTest {
  return (text) => {
    try {
      return isValid(text)
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('Unsupported IP version')) return true
      throw error
    }
  }
}
