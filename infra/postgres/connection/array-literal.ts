/**
 * Arrays as PostgreSQL reads them from text (documentation, 8.15.2 and 8.15.6), one literal for one column of a batch.
 * An element that is given unquoted here can hold no character that means something inside an array.
 */
import { isoTimestamp } from '../../../actors/timestamp.ts'

export type ColumnType =
  | 'integer'
  | 'bigint'
  | 'numeric'
  | 'uuid'
  | 'timestamptz'
  | 'boolean'
  | 'bytea'
  | 'text'
  | 'json'
  | 'sealed'

/**
 * Values by type: `integer`, `bigint` numbers; `timestamptz` milliseconds since 1970; `bytea` hexadecimal digits;
 * `numeric`, `uuid`, `text` strings; `boolean` `true` or `false`; `json` JSON as text, for a column of type text; `sealed` base64, for a column of type
 * bytea, and never an empty text (one alone would read as no element). null anywhere.
 */
export type ColumnValue = string | number | null

/** Characters that no JSON text has in it, as such: what is joined with them needs no quotes and no escapes. */
const BETWEEN = '\u001f'
const NOTHING = '\u001e'
/** Characters that are no digits of base64. */
const BETWEEN_SEALED = ','
const NOTHING_SEALED = '-'

/** An array's literal is read character by character: what is long, or full of quotes, is split instead. */
export type LiteralType = Exclude<ColumnType, 'json' | 'sealed'>

/** The expression that reads the parameter: an array, of texts where the type is `json` or `sealed`. */
export function arrayExpression(type: ColumnType, parameter: string): string {
  if (type === 'json') return `string_to_array(${parameter}::text, E'\\x1f', E'\\x1e')`
  if (type === 'sealed') return `string_to_array(${parameter}::text, '${BETWEEN_SEALED}', '${NOTHING_SEALED}')`
  return `${parameter}::${type}[]`
}

/** The value of the column's type, of an element of such an array. */
export function elementExpression(type: ColumnType, element: string): string {
  return type === 'sealed' ? `decode(${element}, 'base64')` : element
}

/** What `arrayExpression` reads. Throws a RangeError for a time that is none, and for an empty text that is to be sealed. */
export function arrayParameter(type: ColumnType, values: readonly ColumnValue[]): string {
  if (type === 'json') return values.map((value) => value ?? NOTHING).join(BETWEEN)
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
  numeric: String,
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
