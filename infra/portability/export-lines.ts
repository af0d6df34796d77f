/** Writes export lines: numbered, each with the hash of the line before, and one hash over all lines. */
import { createHash } from 'node:crypto'
import { canonicalJson } from '../../actors/canonical-json.ts'
import { type ExportRecord, lineHash, NO_LINE, type ProofRecord } from '../../api/schemas/export-records.ts'

/** A record without its line number and previous hash. */
export type RecordBody = BodyOf<ExportRecord>
type BodyOf<Of> = Of extends unknown ? Omit<Of, 'line' | 'previous_hash'> : never

/** Bytes. A record must fit into an import request together with its envelope. */
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
    const text = canonicalJson(this.recordOf(body))
    if (Buffer.byteLength(text, 'utf8') > LONGEST_RECORD) throw new RecordTooLong('A record is too long.')
    this.line += 1
    this.previousHash = lineHash(text)
    this.hash.update(`${text}\n`, 'utf8')
    return `${text}\n`
  }

  /** Hash over all lines so far: `sha256:` and 64 hexadecimal digits. */
  proofHash(): string {
    return `sha256:${this.hash.copy().digest('hex')}`
  }

  /** `body` as the next line, without adding it. */
  recordOf<Body extends RecordBody>(body: Body): Body & Pick<ProofRecord, 'line' | 'previous_hash'> {
    return { ...body, line: this.line, previous_hash: this.previousHash }
  }
}
