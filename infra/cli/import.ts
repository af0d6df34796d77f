import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import { uuidOf } from '../../actors/identifiers.ts'
import { Http } from '../../api/client/http.ts'
import { isLedgerError } from '../../api/client/ledger-error.ts'
import { storedObject } from '../../runtime/audit/stored-json.ts'
import { LinesBroken, linesOf } from '../portability/export-file.ts'
import { CommandFailed, type CommandIo, type CommandSetup } from './common/command.ts'
import { unreadable } from './common/given-file.ts'
import { failureText, problemText } from './common/problem-text.ts'
import {
  addClientOptions,
  addFormerClientOption,
  type ClientOptions,
  ledgerAccess,
  refuseOthers,
} from './profile/client-options.ts'
import { watchedFetch } from './profile/watched-fetch.ts'
import { shownJson } from './common/shown-text.ts'
import { withLineNumbers } from './common/line-numbers.ts'

export const importCommand: CommandSetup = (command, io) => {
  addFormerClientOption(command)
  addClientOptions(
    command
      .description(
        `Sends an export to the receiving ledger in parts, and waits until the ledger has imported all of it,
or refused it and imported nothing. Prints progress to standard error, and the summary as JSON.

The ledger accepts only exports of the ledgers in its LEDGER_TRUSTED_LEDGERS. Interrupted and run
again with the same file, the command continues. Run again after the import is done, it changes
nothing.

Exit code 0: everything is imported. 1: the import was refused, or could not be sent. Errors name the
line of the refused record. Lines are counted from 0, as in their field "line".`,
      )
      .argument('<file>', 'a file that ledger export wrote'),
  ).action(async (name: string, options: ClientOptions) => {
    const access = await ledgerAccess(options, io)
    const file = await readProof(resolve(io.cwd, name))
    await refuseOthers(access)
    const { fetch } = watchedFetch(access.url, io)
    const client = new Http({ ...access, retry: PATIENCE, timeoutMs: TIMEOUT_MS, fetch })
    const { importId, summary } = await importFile({ client, file, io })
    io.out(`${shownJson({ import_id: importId ?? null, ...(summary as JsonObject) })}\n`)
  })
}

interface ExportFile {
  readonly path: string
  readonly lines: number
  /** Derived from the proof, so that an interrupted import of the same file continues. */
  readonly importId: string
}

interface Import {
  readonly client: Http
  readonly file: ExportFile
  readonly io: CommandIo
}

/** The members of the final status that are printed. */
type ImportResult = Readonly<Record<'importId' | 'summary', JsonObject[string] | undefined>>

const OK = 200
const NOT_FOUND = 404
const CONFLICT = 409
const TIMEOUT_MS = 60_000
/** About five minutes: an outage must not end the import of a large file. */
const PATIENCE = { attempts: 120, firstDelayMs: 3_000, longestDelayMs: 3_000 }

/** A body may have 1 MiB, including the members around the records. */
const MAX_PART_BYTES = 880_000
/** The API bounds the brackets, colons and commas of a body. */
const MAX_PART_MARKS = 120_000
const POLL_MS = 1_000

/** Throws CommandFailed if the file does not end with the proof of an export. */
async function readProof(path: string): Promise<ExportFile> {
  let lines = 0
  let last = ''
  for await (const line of textsOf(path)) {
    lines += 1
    last = line
  }
  const proof = lines === 0 ? {} : recordOf(last, lines - 1)
  const { proof_hash: hash } = proof
  if (proof['record'] !== 'proof' || typeof hash !== 'string') {
    throw new CommandFailed('the file does not end with the proof of an export: it is cut off or not an export')
  }
  return { path, lines, importId: uuidOf(`import ${hash}`) }
}

async function* textsOf(path: string): AsyncGenerator<string, void, undefined> {
  try {
    yield* linesOf(path)
  } catch (cause) {
    if (cause instanceof LinesBroken) throw new CommandFailed(`${path}: ${cause.message}`)
    throw cause instanceof CommandFailed ? cause : unreadable(path, cause)
  }
}

/** The hashes cover the exact bytes: even an added carriage return makes another file. */
function recordOf(text: string, line: number): JsonObject {
  const record = storedObject(text)
  if (record === undefined) throw new CommandFailed(`line ${line} is not a record of an export`)
  if (canonicalJson(record) !== text) throw new CommandFailed(`line ${line} is not canonical JSON`)
  return record
}

interface Part {
  readonly firstLine: number
  readonly records: readonly JsonObject[]
  readonly last: boolean
}

/** The parts from `firstLine` on. */
async function* partsOf({ path, lines }: ExportFile, firstLine: number): AsyncGenerator<Part, void, undefined> {
  let records: JsonObject[] = []
  let [line, bytes, marks] = [0, 0, 0]
  for await (const text of textsOf(path)) {
    if (line >= firstLine) {
      const [textBytes, textMarks] = [Buffer.byteLength(text) + 1, marksIn(text)]
      if (records.length > 0 && (bytes + textBytes > MAX_PART_BYTES || marks + textMarks > MAX_PART_MARKS)) {
        yield { firstLine: line - records.length, records, last: false }
        records = []
        bytes = 0
        marks = 0
      }
      records.push(recordOf(text, line))
      bytes += textBytes
      marks += textMarks
    }
    line += 1
  }
  if (line !== lines) throw new CommandFailed('the file was changed during the import')
  yield { firstLine: line - records.length, records, last: true }
}

/** An upper bound: also counts marks inside strings. */
function marksIn(text: string): number {
  return text.match(/[[{:,]/g)?.length ?? 0
}

async function importFile(importing: Import): Promise<ImportResult> {
  const { file, io } = importing
  const { status, next_part: nextPart, lines: sent } = await stateOf(importing)
  // The cause of an earlier refusal may be gone.
  if (status === undefined || status === 'refused') return sendParts(importing, 0, 0)
  if (status === 'staging' && typeof nextPart === 'number' && typeof sent === 'number' && sent < file.lines) {
    io.err(`continuing after ${sent} of ${file.lines} lines\n`)
    return sendParts(importing, nextPart, sent)
  }
  if (status === 'done') io.err('this file is already imported: nothing was changed\n')
  return waitUntilDone(importing)
}

async function sendParts(importing: Import, firstPart: number, firstLine: number): Promise<ImportResult> {
  const { client, file, io } = importing
  let part = firstPart
  for await (const { firstLine: from, records, last } of partsOf(file, firstLine)) {
    const body = { import_id: file.importId, part, records, last }
    const request = { method: 'POST', path: '/v1/imports', body, repeatable: true }
    const reply = await client.request<JsonObject>(request).catch((error: unknown) => {
      throw failed(error, from)
    })
    io.err(`${from + records.length} of ${file.lines} lines sent\n`)
    if (reply.status === OK) return resultOf(reply.body)
    part += 1
  }
  return waitUntilDone(importing)
}

/** Polls: the ledger applies the parts by itself. */
async function waitUntilDone(importing: Import): Promise<ImportResult> {
  const { io } = importing
  let printed = ''
  for (;;) {
    const state = await stateOf(importing)
    const { status, done, total, refusal } = state
    if (status === 'done') return resultOf(state)
    if (status === undefined) throw new CommandFailed('the ledger no longer knows the import: run the command again')
    if (status === 'refused') {
      const problem = problemText(CONFLICT, (refusal ?? {}) as JsonObject)
      throw new CommandFailed(`refused, nothing was imported: ${withLineNumbers(problem)}`)
    }
    const progress = `${shownJson(status)}: ${shownJson(done)} of ${shownJson(total)} steps\n`
    if (progress !== printed) io.err(progress.replaceAll('"', ''))
    printed = progress
    await pause(POLL_MS)
  }
}

function resultOf({ import_id: importId, summary }: JsonObject): ImportResult {
  return { importId, summary }
}

/** The import at the ledger; without members if there is none. Throws CommandFailed. */
async function stateOf({ client, file }: Import): Promise<JsonObject> {
  try {
    return (await client.request<JsonObject>({ method: 'GET', path: `/v1/imports/${file.importId}` })).body
  } catch (error) {
    if (isLedgerError(error) && error.status === NOT_FOUND) return {}
    throw failed(error)
  }
}

/** `firstLine`: of the part that was sent. */
function failed(error: unknown, firstLine = 0): Error {
  if (!isLedgerError(error)) return error instanceof Error ? error : new Error(String(error))
  return new CommandFailed(withLineNumbers(failureText(error), firstLine), { cause: error })
}
