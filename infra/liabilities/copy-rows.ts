/**
 * Reads rows from COPY in its binary format (PostgreSQL documentation, COPY). Chunks may end anywhere.
 *   C1. All rows share one object. A row and its bytes are valid only during `see`.
 */
import type { Readable } from 'node:stream'
import type postgres from 'postgres'
import { UnreadableLiability } from './liability-book.ts'

/** Signature, flags, and the length of an empty extension. */
const HEADER_BYTES = 19
const COUNT_BYTES = 2
const LENGTH_BYTES = 4
const NULL_LENGTH = -1
/** Number of columns that marks the end. */
const TRAILER = -1

/** `query` must not contain user input. Throws UnreadableLiability, or an error of `see` or the driver. */
export async function copyRows(
  sql: postgres.TransactionSql,
  query: string,
  columns: number,
  see: (row: CopiedRow) => void,
): Promise<void> {
  const stream = await sql.unsafe(`COPY (${query}) TO STDOUT (FORMAT binary)`).readable()
  await readRows(stream, columns, see).finally(() => wake(stream))
}

/**
 * The driver pauses its socket when the stream is full, and resumes on the next read. Nothing reads an ended stream, so
 * without this call the connection would stay paused.
 */
function wake(stream: Readable): void {
  try {
    stream._read(0)
  } catch {
    // The connection is lost: there is no socket to resume.
  }
}

/** After a failure the rest is read and dropped: an unfinished stream would block its connection forever. */
function readRows(stream: Readable, columns: number, see: (row: CopiedRow) => void): Promise<void> {
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
      if (failure === undefined && !isWhole) failure = new UnreadableLiability('The rows end without a trailer.')
      if (failure === undefined) resolve()
      else reject(failure)
    })
  })
}

/** The result tells whether the trailer has been read. */
function createTaker(columns: number, see: (row: CopiedRow) => void): (chunk: Buffer) => boolean {
  const row = new CopiedRow(columns)
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
        const end = row.take(bytes, at + COUNT_BYTES)
        if (end === undefined) break
        see(row)
        at = end
      }
    }
    rest = bytes.subarray(at)
    return isEnded
  }
}

/** Number of dimensions, null flag and element type. Size and lower bound of the dimension follow. */
const ARRAY_HEAD_BYTES = 12
const DIMENSION_BYTES = 8

/** Unless stated otherwise, reading a null or missing column throws an UnreadableLiability. */
export class CopiedRow {
  private bytes: Buffer = Buffer.alloc(0)
  private readonly starts: Uint32Array
  private readonly lengths: Int32Array

  constructor(columns: number) {
    this.starts = new Uint32Array(columns)
    this.lengths = new Int32Array(columns).fill(NULL_LENGTH)
  }

  /** Reads the row at `start` and returns its end; undefined when the row is incomplete. */
  take(bytes: Buffer, start: number): number | undefined {
    const { starts, lengths } = this
    let at = start
    for (let column = 0; column < lengths.length; column += 1) {
      if (bytes.length - at < LENGTH_BYTES) return undefined
      const length = bytes.readInt32BE(at)
      at += LENGTH_BYTES
      starts[column] = at
      lengths[column] = length
      if (length !== NULL_LENGTH) at += length
      if (at > bytes.length) return undefined
    }
    this.bytes = bytes
    return at
  }

  isNull(column: number): boolean {
    return this.lengths[column] === NULL_LENGTH
  }

  bytesAt(column: number): Buffer {
    const start = this.startOf(column)
    return this.bytes.subarray(start, start + (this.lengths[column] ?? 0))
  }

  textAt(column: number): string {
    const start = this.startOf(column)
    return this.bytes.toString('utf8', start, start + (this.lengths[column] ?? 0))
  }

  /** An `integer` column. */
  integerAt(column: number): number {
    return this.bytes.readInt32BE(this.startOf(column))
  }

  /** A `bigint` column, in decimal like the driver's. */
  bigintAt(column: number): string {
    const start = this.startOf(column)
    const isShort = this.bytes.readInt32BE(start) === 0
    return isShort ? String(this.bytes.readUInt32BE(start + 4)) : String(this.bytes.readBigInt64BE(start))
  }

  /** Elements of a one-dimensional array in the format of `array_send`; none for a null column. */
  elementsAt(column: number): readonly Buffer[] {
    if (this.isNull(column)) return []
    const { bytes } = this
    const start = this.startOf(column)
    if (bytes.readInt32BE(start) === 0) return []
    const count = bytes.readInt32BE(start + ARRAY_HEAD_BYTES)
    const elements: Buffer[] = []
    let at = start + ARRAY_HEAD_BYTES + DIMENSION_BYTES
    while (elements.length < count) {
      const length = bytes.readInt32BE(at)
      at += LENGTH_BYTES
      if (length < 0) throw new UnreadableLiability('An array has a null element.')
      elements.push(bytes.subarray(at, at + length))
      at += length
    }
    return elements
  }

  private startOf(column: number): number {
    const start = this.starts[column]
    if (start === undefined || this.isNull(column)) throw new UnreadableLiability('A row lacks a value.')
    return start
  }
}
