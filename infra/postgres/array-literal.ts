/**
 * Arrays as PostgreSQL reads them from text (documentation, 8.15.2 and 8.15.6), one literal for one column of a batch.
 * An element that is given unquoted here can hold no character that means something inside an array.
 */
export type ColumnType = 'integer' | 'bigint' | 'numeric' | 'uuid' | 'timestamptz' | 'bytea' | 'text'

/**
 * Values by type: `integer`, `bigint` numbers; `timestamptz` milliseconds since 1970; `bytea` hexadecimal digits;
 * `numeric`, `uuid`, `text` strings. null anywhere.
 */
export type ColumnValue = string | number | null

/** Throws a RangeError for a time that is none. */
export function arrayLiteral(type: ColumnType, values: readonly ColumnValue[]): string {
  const element = ELEMENTS[type]
  let literal = '{'
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index]
    if (index > 0) literal += ','
    literal += value === null || value === undefined ? 'NULL' : element(value)
  }
  return `${literal}}`
}

const ELEMENTS: Readonly<Record<ColumnType, (value: string | number) => string>> = {
  integer: String,
  bigint: String,
  timestamptz: (value) => new Date(value).toISOString(),
  bytea: (value) => `"\\\\x${quotable(String(value))}"`,
  numeric: quoted,
  uuid: quoted,
  text: quoted,
}

const SPECIAL = /["\\]/

function quoted(value: string | number): string {
  return `"${quotable(String(value))}"`
}

function quotable(text: string): string {
  return SPECIAL.test(text) ? text.replace(/["\\]/g, '\\$&') : text
}
