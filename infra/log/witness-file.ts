/**
 * The one file of a witness: its name, its key, the logs that it watches and the last head of each that it signed.
 *   F1. It is replaced as a whole, and stored before a signature is sent.
 *   F2. A file that cannot be read is never written anew: a witness that forgot what it signed would sign another history.
 *   F3. One process at a time uses it. A file that another process changed nevertheless, as from another container, is not
 *       replaced: two witnesses with one key could sign two histories.
 * Forks of its logs are in a file beside it, which has no secret and can be shown to others.
 */
import { dirname } from 'node:path'
import { randomBytes } from 'node:crypto'
import * as v from 'valibot'
import { parseCheckpoint } from '../../api/client/log/checkpoint.ts'
import { parseNote } from '../../api/client/log/signed-note.ts'
import { base64 } from '../../api/client/signing/bytes.ts'
import { claimFile, FileInUse } from './file-claim.ts'
import { readPrivateFile, replacePrivateFile } from '../system/private-file.ts'
import type { LogFork, LogForkStore, WitnessedHead, WitnessStore } from './witness.ts'

/** The message says why the file cannot be used. */
export class WitnessFileUnusable extends Error {
  override readonly name = 'WitnessFileUnusable'
}

const SEED_BYTES = 32
const FORMAT = 1
/** Of one log, which could sign them without end. */
const MOST_FORKS = 8

const schema = v.strictObject({
  format: v.literal(FORMAT),
  name: v.pipe(v.string(), v.nonEmpty()),
  /** Secret, in base64. */
  seed: v.pipe(
    v.string(),
    v.check((text) => Buffer.from(text, 'base64').length === SEED_BYTES),
  ),
  /** Signed notes by the origins of their logs. */
  heads: v.record(v.string(), v.string()),
})
type Content = v.InferOutput<typeof schema>

export interface WitnessFile extends WitnessStore, LogForkStore {
  readonly name: string
  /** 32 bytes. */
  readonly seed: Buffer
  /** Ends the use of the file (F3). */
  readonly close: () => void
}

/** `name`: of a new witness, or undefined for one that exists. Throws WitnessFileUnusable (F2, F3). */
export function openWitnessFile(path: string, name: string | undefined): WitnessFile {
  const close = claimed(path)
  try {
    return { ...openClaimedFile(path, name), close }
  } catch (error) {
    close()
    throw error
  }
}

/** F3. */
function claimed(path: string): () => void {
  try {
    return claimFile(path)
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') {
      throw new WitnessFileUnusable(`there is no directory ${dirname(path)}`, { cause })
    }
    const reason = cause instanceof Error ? cause.message : 'unknown'
    throw new WitnessFileUnusable(cause instanceof FileInUse ? reason : `${path} cannot be used: ${reason}`, { cause })
  }
}

function openClaimedFile(path: string, name: string | undefined): Omit<WitnessFile, 'close'> {
  const found = readContent(path)
  if (found === undefined && name === undefined)
    throw new WitnessFileUnusable(`there is no witness in ${path}: --name makes a new one`)
  if (found !== undefined && name !== undefined && found.name !== name) {
    throw new WitnessFileUnusable(`the witness in ${path} is ${found.name}`)
  }
  let content: Content = found ?? newContent(path, name ?? '')
  let stored = readPrivateFile(path)
  return {
    name: content.name,
    seed: Buffer.from(content.seed, 'base64'),
    head: (origin) => Promise.resolve(headIn(content, origin)),
    saveFork: (fork) => Promise.resolve(addFork(`${path}.forks`, fork)),
    save: async (head) => {
      if (readPrivateFile(path) !== stored) throw new WitnessFileUnusable(`${path} was changed by another process`)
      const changed = { ...content, heads: { ...content.heads, [head.origin]: head.note } }
      replacePrivateFile(path, textOf(changed))
      ;[content, stored] = [changed, textOf(changed)]
      return Promise.resolve()
    },
  }
}

function newContent(path: string, name: string): Content {
  const content: Content = { format: FORMAT, name, seed: randomBytes(SEED_BYTES).toString('base64'), heads: {} }
  replacePrivateFile(path, textOf(content))
  return content
}

function textOf(content: Content): string {
  return `${JSON.stringify(content)}\n`
}

function readContent(path: string): Content | undefined {
  const text = readPrivateFile(path)
  if (text === undefined) return undefined
  try {
    const content = v.parse(schema, JSON.parse(text))
    for (const origin of Object.keys(content.heads)) headIn(content, origin)
    return content
  } catch (error) {
    throw new WitnessFileUnusable(`${path} is not the file of a witness, or is damaged`, { cause: error })
  }
}

/** A JSON object a line. False: it is there, or enough others of this log are. */
function addFork(path: string, { head: { origin, size, root }, notes }: LogFork): boolean {
  const fork = { log: origin, size, root: base64(root) }
  const beginning = (fields: object): string => JSON.stringify(fields).slice(0, -1)
  const text = readPrivateFile(path) ?? ''
  const ofLog = text.split('\n').filter((line) => line.startsWith(beginning({ log: origin })))
  if (ofLog.length >= MOST_FORKS || ofLog.some((line) => line.startsWith(beginning(fork)))) return false
  replacePrivateFile(path, `${text}${JSON.stringify({ ...fork, notes })}\n`)
  return true
}

function headIn({ heads }: Content, origin: string): WitnessedHead | undefined {
  if (!Object.hasOwn(heads, origin)) return undefined
  const note = heads[origin] ?? ''
  const head = parseCheckpoint(parseNote(note)?.text ?? '')
  if (head?.origin !== origin) throw new RangeError('a head of the file is malformed')
  return { ...head, note }
}
