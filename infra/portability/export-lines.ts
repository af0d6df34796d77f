/** The lines of an export as they are written: each numbered and tied to the one before, and one hash over all of them. */
import { createHash } from 'node:crypto'
import { type ExportRecord, lineHash, lineOf, NO_LINE, type ProofRecord } from '../../api/schemas/export-record.ts'

/** A record as it is before it is a line of a file. */
export type RecordBody = Bodied<ExportRecord>
type Bodied<Of> = Of extends unknown ? Omit<Of, 'line' | 'previous_hash'> : never

/** Bytes that a record may have, so that one that is sent on fits into a request with its envelope. */
export const LONGEST_RECORD = 900_000

export class RecordTooLong extends Error {
  override readonly name = 'RecordTooLong'
}

export class ExportLines {
  private line = 0
  private previousHash = NO_LINE
  private readonly hash = createHash('sha256')

  /** The line with its line feed. Throws RecordTooLong. */
  add(body: RecordBody): string {
    const text = lineOf(this.recordOf(body))
    if (Buffer.byteLength(text, 'utf8') > LONGEST_RECORD) throw new RecordTooLong('A record is too long.')
    this.line += 1
    this.previousHash = lineHash(text)
    this.hash.update(`${text}\n`, 'utf8')
    return `${text}\n`
  }

  /** Over all lines so far: `sha256:` and 64 hexadecimal digits. */
  proofHash(): string {
    return `sha256:${this.hash.copy().digest('hex')}`
  }

  /** `body` with what makes it the next line; nothing is added yet. */
  recordOf<Body extends RecordBody>(body: Body): Body & Pick<ProofRecord, 'line' | 'previous_hash'> {
    return { ...body, line: this.line, previous_hash: this.previousHash }
  }
}
