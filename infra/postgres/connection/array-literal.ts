/**
 * Arrays as PostgreSQL reads them from text (documentation, 8.15.2 and 8.15.6), one literal for one column of a batch.
 * An element that is given unquoted here can hold no character that means something inside an array.
 */
import { isoTimestamp } from '../../../actors/timestamp.ts'

export type ColumnType = 'integer' | 'bigint' | 'uuid' | 'timestamptz' | 'boolean' | 'bytea' | 'text' | 'sealed'

/**
 * Values by type: `integer`, `bigint` numbers; `timestamptz` milliseconds since 1970; `bytea` hexadecimal digits;
 * `uuid`, `text` strings; `boolean` `true` or `false`; `sealed` base64, for a column of type bytea, and never an empty text
 * (one alone would read as no element). null anywhere.
 */
export type ColumnValue = string | number | null

/** Characters that are no digits of base64. */
const BETWEEN_SEALED = ','
const NOTHING_SEALED = '-'

/** The server reads an array's literal character by character, so long sealed texts are split instead. */
export type LiteralType = Exclude<ColumnType, 'sealed'>

/** The expression that reads the parameter: an array, of texts where the type is `sealed`. */
export function arrayExpression(type: ColumnType, parameter: string): string {
  if (type === 'sealed') return `string_to_array(${parameter}::text, '${BETWEEN_SEALED}', '${NOTHING_SEALED}')`
  return `${parameter}::${type}[]`
}

/** The value of the column's type, of an element of such an array. */
export function elementExpression(type: ColumnType, element: string): string {
  return type === 'sealed' ? `decode(${element}, 'base64')` : element
}

/** What `arrayExpression` reads. Throws a RangeError for a time that is none, and for an empty text that is to be sealed. */
export function arrayParameter(type: ColumnType, values: readonly ColumnValue[]): string {
  if (type === 'sealed') return values.map(digitsOrNothing).join(BETWEEN_SEALED)
  return arrayLiteral(type, values)
}

function digitsOrNothing(value: ColumnValue): ColumnValue {
  if (value === '') throw new RangeError('an empty text is not sealed')
  return value ?? NOTHING_SEALED
}

/** Throws a RangeError for a time that is none. */
export function arrayLiteral(type: LiteralType, values: readonly ColumnValue[]): string {
  const element = ELEMENTS[type]
  let literal = '{'
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index]
    if (index > 0) literal += ','
    literal += value === null || value === undefined ? 'NULL' : element(value)
  }
  return `${literal}}`
}

/** The literal of one column of rows. */
export function column<Row>(type: LiteralType, rows: readonly Row[], valueOf: (row: Row) => ColumnValue): string {
  return arrayLiteral(type, rows.map(valueOf))
}

const ELEMENTS: Readonly<Record<LiteralType, (value: string | number) => string>> = {
  integer: String,
  bigint: String,
  timestamptz: (value) => isoTimestamp(Number(value)),
  bytea: (value) => `"\\\\x${String(value)}"`,
  uuid: String,
  boolean: String,
  text: quoted,
}

const SPECIAL = /["\\]/

function quoted(value: string | number): string {
  return `"${quotable(String(value))}"`
}

function quotable(text: string): string {
  return SPECIAL.test(text) ? text.replace(/["\\]/g, '\\$&') : text
}
