/**
 * A checkpoint file: the end of each account's chain, as lines of text to keep outside the database.
 *   F1. The first line names the format. One line per account follows, ordered by shard and reference: shard, reference,
 *       sequence, version and tip (base64url), separated by spaces. The last line is a signed statement over all lines
 *       before it. A file that is cut off or altered is rejected.
 *   F2. The whole file is verified before its contents are used. It is streamed, never held in memory.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import * as v from 'valibot'
import { parseStrictJson } from '../../api/http/json-text.ts'
import { type FileStatement, readStatement, type SignedText } from './checkpoint-statement.ts'

export const FIRST_LINE = 'ledger checkpoint 2'

/** An account's position at the time of the checkpoint. */
export interface AccountPoint {
  readonly shardId: number
  readonly accountRef: string
  readonly sequence: number
  readonly version: number
  /** 64 hexadecimal digits. */
  readonly tip: string
}

export interface CheckpointFile {
  readonly statement: FileStatement
  readonly signed: SignedText
}

/** The file is not a complete checkpoint file; the message gives the reason. */
export class CheckpointFileBroken extends Error {
  override readonly name = 'CheckpointFileBroken'
}

export function lineOf({ shardId, accountRef, sequence, version, tip }: AccountPoint): string {
  return `${shardId} ${accountRef} ${sequence} ${version} ${Buffer.from(tip, 'hex').toString('base64url')}\n`
}

/** Hashes lines as they are written or read. */
export interface ContentHash {
  readonly add: (text: string) => void
  readonly digest: () => string
}

export function contentHash(): ContentHash {
  const hashed = createHash('sha256')
  return { add: (text) => void hashed.update(text, 'utf8'), digest: () => `sha256:${hashed.digest('hex')}` }
}

/** The statement is embedded as text because the signature covers that text. */
export function lastLine({ text, signature }: SignedText): string {
  return `${JSON.stringify({ statement: text, signature })}\n`
}

const LINE = /^([0-9]{1,9}) ([A-Za-z0-9_.:@-]{1,128}) ([0-9]{1,15}) ([0-9]{1,15}) ([A-Za-z0-9_-]{43})$/
const lastLineSchema = v.strictObject({ statement: v.string(), signature: v.string() })

function pointOf(line: string, number: number): AccountPoint {
  const [, shardId, accountRef, sequence, version, tip] = LINE.exec(line) ?? []
  if (shardId === undefined || accountRef === undefined || tip === undefined) {
    throw new CheckpointFileBroken(`line ${number} is malformed`)
  }
  return {
    shardId: Number(shardId),
    accountRef,
    sequence: Number(sequence),
    version: Number(version),
    tip: Buffer.from(tip, 'base64url').toString('hex'),
  }
}

/** Characters. No line of a checkpoint file is longer. */
const LONGEST_LINE = 8_192

/** Lines without their line breaks. */
async function* linesOf(path: string): AsyncGenerator<string> {
  const input = createReadStream(path, { encoding: 'utf8' })
  const lines = createInterface({ input, crlfDelay: Infinity })
  try {
    for await (const line of lines) {
      if (line.length > LONGEST_LINE) throw new CheckpointFileBroken('it has a line that is too long')
      yield line
    }
  } finally {
    lines.close()
    input.destroy()
  }
}

/** Verifies the whole file (F2). Throws CheckpointFileBroken, or the error of opening the file. */
export async function readCheckpointFile(path: string): Promise<CheckpointFile> {
  const content = contentHash()
  let number = 0
  let file: CheckpointFile | undefined
  let before = ''
  for await (const line of linesOf(path)) {
    number += 1
    if (number === 1 && line !== FIRST_LINE)
      throw new CheckpointFileBroken('its first line is not that of a checkpoint file')
    if (file !== undefined) throw new CheckpointFileBroken('there is more after its last line')
    if (line.startsWith('{')) {
      file = fileOf(line)
      continue
    }
    if (number > 1) inOrder(before, pointOf(line, number), number)
    before = line
    content.add(`${line}\n`)
  }
  if (file === undefined) throw new CheckpointFileBroken('its end is missing')
  if (file.statement.content !== content.digest()) {
    throw new CheckpointFileBroken('its lines differ from those that were signed')
  }
  return file
}

/** Strict order rejects duplicate accounts. */
function inOrder(before: string, point: AccountPoint, number: number): void {
  const [shardText, accountRef = ''] = before === FIRST_LINE ? ['-1'] : before.split(' ')
  const shardId = Number(shardText)
  const follows = point.shardId > shardId || (point.shardId === shardId && point.accountRef > accountRef)
  if (!follows) throw new CheckpointFileBroken(`line ${number} is out of order`)
}

function fileOf(line: string): CheckpointFile {
  const parsed = parseStrictJson(line)
  const read = v.safeParse(lastLineSchema, parsed.ok ? parsed.value : undefined)
  const statement = read.success ? readStatement(read.output.statement) : undefined
  if (!read.success || statement === undefined)
    throw new CheckpointFileBroken('its last line is not a signed statement')
  return { statement, signed: { text: read.output.statement, signature: read.output.signature } }
}

/** The accounts of a verified file, `size` at a time. */
export async function* pointsOf(path: string, size: number): AsyncGenerator<readonly AccountPoint[]> {
  let points: AccountPoint[] = []
  let number = 0
  for await (const line of linesOf(path)) {
    number += 1
    if (number === 1) continue
    if (line.startsWith('{')) break
    points.push(pointOf(line, number))
    if (points.length < size) continue
    yield points
    points = []
  }
  if (points.length > 0) yield points
}
