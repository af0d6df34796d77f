/** Positions in PostgreSQL's write-ahead log (WAL): numbers of bytes since its beginning, below 2^53. */

/** Of the form 16/B374D848. Throws RangeError. */
export function parsePosition(text: string): number {
  const [, high = '', low = ''] = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/.exec(text) ?? []
  const position = Number.parseInt(high, 16) * 2 ** 32 + Number.parseInt(low, 16)
  if (!Number.isSafeInteger(position)) throw new RangeError(`${text} is no position in the WAL`)
  return position
}

export function formatPosition(position: number): string {
  const high = Math.floor(position / 2 ** 32)
  return `${high.toString(16)}/${(position % 2 ** 32).toString(16)}`.toUpperCase()
}

export function segmentStart(position: number, segmentBytes: number): number {
  return position - (position % segmentBytes)
}

/** The name of the file in pg_wal with this position. `timeline`: eight hexadecimal digits. */
export function segmentName(timeline: string, position: number, segmentBytes: number): string {
  const number = Math.floor(position / segmentBytes)
  const perId = 2 ** 32 / segmentBytes
  const digits = (value: number): string => value.toString(16).toUpperCase().padStart(8, '0')
  return `${timeline}${digits(Math.floor(number / perId))}${digits(number % perId)}`
}
