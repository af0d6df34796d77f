/**
 * Arrays as PostgreSQL reads them from text (documentation, 8.15.2 and 8.15.6), one literal for one column of a batch.
 * An element that is given unquoted here can hold no character that means something inside an array.
 */
import { isoTimestamp } from '../../actors/timestamp.ts'

export type ColumnType =
  | 'integer'
  | 'bigint'
  | 'numeric'
  | 'uuid'
  | 'timestamptz'
  | 'bytea'
  | 'text'
  | 'json'
  /** Bytes that are too long for an array's literal (commit-texts.ts). */
  | 'sealed'

/** An array's parameter for each column. */
export type ArrayType = Exclude<ColumnType, 'sealed'>

/**
 * Values by type: `integer`, `bigint` numbers; `timestamptz` milliseconds since 1970; `bytea` hexadecimal digits;
 * `numeric`, `uuid`, `text` strings; `json` JSON as text, for a column of type text; `sealed` bytes. null anywhere.
 */
export type ColumnValue = string | number | Uint8Array | null
/** Of an array. */
export type ArrayValue = Exclude<ColumnValue, Uint8Array>

/** Characters that no JSON text has in it, as such: what is joined with them needs no quotes and no escapes. */
const BETWEEN = '\u001f'
const NOTHING = '\u001e'

/** The expression that reads the parameter: an array of the column's type. */
export function arrayExpression(type: ArrayType, parameter: string): string {
  // JSON is full of quotes: as an array's literal each would have to be escaped here and read back there.
  return type === 'json' ? `string_to_array(${parameter}::text, E'\\x1f', E'\\x1e')` : `${parameter}::${type}[]`
}

/** What `arrayExpression` reads. Throws a RangeError for a time that is none. */
export function arrayParameter(type: ArrayType, values: readonly ArrayValue[]): string {
  if (type !== 'json') return arrayLiteral(type, values)
  return values.map((value) => value ?? NOTHING).join(BETWEEN)
}

/** Throws a RangeError for a time that is none. */
export function arrayLiteral(type: Exclude<ArrayType, 'json'>, values: readonly ArrayValue[]): string {
  const element = ELEMENTS[type]
  let literal = '{'
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index]
    if (index > 0) literal += ','
    literal += value === null || value === undefined ? 'NULL' : element(value)
  }
  return `${literal}}`
}

const ELEMENTS: Readonly<Record<Exclude<ArrayType, 'json'>, (value: string | number) => string>> = {
  integer: String,
  bigint: String,
  timestamptz: (value) => isoTimestamp(Number(value)),
  bytea: (value) => `"\\\\x${String(value)}"`,
  numeric: String,
  uuid: String,
  text: quoted,
}

const SPECIAL = /["\\]/

function quoted(value: string | number): string {
  return `"${quotable(String(value))}"`
}

function quotable(text: string): string {
  return SPECIAL.test(text) ? text.replace(/["\\]/g, '\\$&') : text
}
