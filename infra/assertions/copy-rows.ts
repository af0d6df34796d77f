/**
 * Rows of COPY in its binary format (PostgreSQL documentation, COPY), out of chunks that end anywhere.
 *   C1. A value is a view of what arrived: it is there until the row has been seen.
 */
import type { Readable } from 'node:stream'
import type postgres from 'postgres'
import { UnreadableLiability } from './liability-book.ts'

/** Signature and flags; an extension, of which there is none, would follow its length. */
const HEADER_BYTES = 19
const COUNT_BYTES = 2
const LENGTH_BYTES = 4
const NULL_LENGTH = -1
/** In place of the number of columns. */
const TRAILER = -1

/** null where the column is. */
export type CopiedValue = Buffer | null

/** Throws what `see` throws, UnreadableLiability, or what the driver throws. `query`: without user input in it. */
export async function copyRows(
  sql: postgres.TransactionSql,
  query: string,
  columns: number,
  see: (values: readonly CopiedValue[]) => void,
): Promise<void> {
  const stream = await sql.unsafe(`COPY (${query}) TO STDOUT (FORMAT binary)`).readable()
  await readRows(stream, columns, see)
  // The driver pauses its socket when the stream is full, and goes on when more is asked for: of a stream that has ended,
  // nobody asks, and the connection would be dead.
  stream._read(0)
}

/** After a failure the rest is read and dropped: a stream that is left in its middle holds up its connection for good. */
export function readRows(
  stream: Readable,
  columns: number,
  see: (values: readonly CopiedValue[]) => void,
): Promise<void> {
  const take = createTaker(columns, see)
  let isWhole = false
  let failure: Error | undefined
  return new Promise((resolve, reject) => {
    stream.on('data', (chunk: Buffer) => {
      if (failure !== undefined) return
      try {
        isWhole = take(chunk)
      } catch (error) {
        failure = error instanceof Error ? error : new Error('a row could not be read', { cause: error })
      }
    })
    stream.once('error', reject)
    stream.once('end', () => {
      if (failure === undefined && !isWhole) failure = new UnreadableLiability('The rows do not end as they should.')
      if (failure === undefined) resolve()
      else reject(failure)
    })
  })
}

/** Whether the end has come. */
function createTaker(columns: number, see: (values: readonly CopiedValue[]) => void): (chunk: Buffer) => boolean {
  let rest: Buffer = Buffer.alloc(0)
  let isBegun = false
  let isEnded = false
  return (chunk) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let at = 0
    if (!isBegun) {
      if (bytes.length < HEADER_BYTES) {
        rest = bytes
        return false
      }
      isBegun = true
      at = HEADER_BYTES
    }
    while (!isEnded && bytes.length - at >= COUNT_BYTES) {
      const count = bytes.readInt16BE(at)
      if (count === TRAILER) {
        isEnded = true
      } else {
        if (count !== columns) throw new UnreadableLiability('A row has another number of columns.')
        const row = rowAt(bytes, at + COUNT_BYTES, columns)
        if (row === undefined) break
        see(row.values)
        at = row.end
      }
    }
    rest = bytes.subarray(at)
    return isEnded
  }
}

/** Undefined when not all of it is there yet. */
function rowAt(
  bytes: Buffer,
  start: number,
  columns: number,
): { readonly values: readonly CopiedValue[]; readonly end: number } | undefined {
  const values: CopiedValue[] = []
  let at = start
  while (values.length < columns) {
    if (bytes.length - at < LENGTH_BYTES) return undefined
    const length = bytes.readInt32BE(at)
    at += LENGTH_BYTES
    if (length === NULL_LENGTH) {
      values.push(null)
    } else {
      if (bytes.length - at < length) return undefined
      values.push(bytes.subarray(at, at + length))
      at += length
    }
  }
  return { values, end: at }
}

/** Dimensions, whether there are nulls, type of the elements; size and lower bound of the one dimension follow. */
const ARRAY_HEAD_BYTES = 12
const DIMENSION_BYTES = 8

/** Elements of an array of one dimension, as `array_send` writes it; none of a null. */
export function elementsOf(value: CopiedValue): readonly Buffer[] {
  if (value === null || value.readInt32BE(0) === 0) return []
  const count = value.readInt32BE(ARRAY_HEAD_BYTES)
  const elements: Buffer[] = []
  let at = ARRAY_HEAD_BYTES + DIMENSION_BYTES
  while (elements.length < count) {
    const length = value.readInt32BE(at)
    at += LENGTH_BYTES
    if (length < 0) throw new UnreadableLiability('An array has an element that is null.')
    elements.push(value.subarray(at, at + length))
    at += length
  }
  return elements
}

/** Of a column that is never null. Throws UnreadableLiability. */
export function bytesOf(value: CopiedValue | undefined): Buffer {
  if (value === null || value === undefined) throw new UnreadableLiability('A row lacks a value.')
  return value
}

export function textOf(value: CopiedValue | undefined): string {
  return bytesOf(value).toString('utf8')
}

/** Of an `integer`. */
export function integerOf(value: CopiedValue | undefined): number {
  return bytesOf(value).readInt32BE(0)
}

/** Of a `bigint`, as the driver shows it. */
export function bigintOf(value: CopiedValue | undefined): string {
  return String(bytesOf(value).readBigInt64BE(0))
}
