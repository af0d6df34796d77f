/** Rows of COPY in its text format, out of chunks that end anywhere. Values that would need escapes are refused. */
import type { Readable } from 'node:stream'
import { UnreadableLiability } from './liability-book.ts'

const TAB = 0x09
const NEWLINE = 0x0a
const BACKSLASH = 0x5c

export interface CopyRows {
  /** Rejects with what `see` throws, with UnreadableLiability, or with what the stream fails with. */
  readonly readAll: (stream: Readable) => Promise<void>
}

/**
 * `see`: is given parts of a buffer, which are its to read until it returns. After a failure the rest is read and
 * dropped: a stream that is left in its middle holds up its connection for good.
 */
export function createCopyRows(columns: number, see: (values: readonly Buffer[]) => void): CopyRows {
  let rest: Buffer = Buffer.alloc(0)
  let failure: Error | undefined

  function take(chunk: Buffer): void {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      see(valuesOf(bytes.subarray(start, end)))
      start = end + 1
    }
    rest = bytes.subarray(start)
  }

  function valuesOf(row: Buffer): readonly Buffer[] {
    if (row.includes(BACKSLASH)) throw new UnreadableLiability('A value has characters that no ID and no number has.')
    const values: Buffer[] = []
    let start = 0
    for (let end = row.indexOf(TAB); end >= 0; end = row.indexOf(TAB, start)) {
      values.push(row.subarray(start, end))
      start = end + 1
    }
    values.push(row.subarray(start))
    if (values.length !== columns) throw new UnreadableLiability('A row has another number of columns.')
    return values
  }

  return {
    readAll: (stream) =>
      new Promise((resolve, reject) => {
        stream.on('data', (chunk: Buffer) => {
          if (failure !== undefined) return
          try {
            take(chunk)
          } catch (error) {
            failure = error instanceof Error ? error : new Error('a row could not be read', { cause: error })
          }
        })
        stream.once('error', reject)
        stream.once('end', () => {
          if (failure === undefined && rest.length > 0) failure = new UnreadableLiability('The last row is not whole.')
          if (failure === undefined) resolve()
          else reject(failure)
        })
      }),
  }
}
