import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import { uuidOf } from '../../actors/identifiers.ts'
import { LinesBroken, linesOf } from '../portability/export-file.ts'
import { CommandFailed, EXIT_FAILED, EXIT_OK, readArgs, type Command, type CommandIo } from './common/command.ts'
import {
  CLIENT_HELP,
  CLIENT_OPTIONS,
  type HttpAnswer,
  type HttpClient,
  openHttpClient,
  problemText,
} from './common/http-client.ts'
import { inLineNames, lineName } from './common/line-words.ts'
import { createPatientClient } from './common/patient-client.ts'

export const importCommand: Command = {
  summary: 'import what another ledger exported to this one',
  help: `Usage: ledger import FILE --url URL --client ID --secret-file FILE

Sends an export to the ledger that it is for, in parts, and waits until the ledger has taken in all of it, or refused it and
taken in nothing. Progress goes to standard error, the summary as JSON to standard output.

${CLIENT_HELP}

The client must be an administrator. The ledger takes only exports of ledgers that it was configured to trust. Stopped at any
moment and run again with the same file it goes on where it was; run again after it is done it changes nothing.

Exit code 0: everything is taken in. 1: it is refused, and the record that is the reason is named, or it could not be sent.
`,
  run: async (args, io) => {
    const { values, positionals } = readArgs(args, CLIENT_OPTIONS, { least: 1, most: 1, what: 'FILE' })
    const client = createPatientClient(openHttpClient(values, io), io)
    const path = resolve(io.cwd, positionals[0] ?? '')
    const file = await readEnd(path)
    return new Sending(client, path, file, io).run()
  },
}

interface FileEnd {
  readonly lines: number
  readonly importId: string
}

const OK = 200
const ACCEPTED = 202
const NOT_FOUND = 404

/** Of a body of 1 MiB, with what stands around the records. */
const MAX_PART_BYTES = 880_000
/** Brackets, colons and commas: what the ledger reads of one body has a bound on them. */
const MAX_PART_MARKS = 120_000
const LOOK_AGAIN_MS = 1_000

/** The same file has the same ID: whoever sends it again goes on. */
async function readEnd(path: string): Promise<FileEnd> {
  let lines = 0
  let last = ''
  for await (const line of textsOf(path)) {
    lines += 1
    last = line
  }
  const proof = lines === 0 ? {} : recordOf(last, lines - 1)
  const { proof_hash: hash } = proof
  if (proof['record'] !== 'proof' || typeof hash !== 'string') {
    throw new CommandFailed('the file does not end with the proof of an export: it is none, or was cut off')
  }
  return { lines, importId: uuidOf(`import ${hash}`) }
}

async function* textsOf(path: string): AsyncGenerator<string, void, undefined> {
  try {
    yield* linesOf(path)
  } catch (cause) {
    if (cause instanceof LinesBroken) throw new CommandFailed(`${path}: ${inLineNames(cause.message)}`)
    throw cause instanceof CommandFailed ? cause : new CommandFailed(`${path} cannot be read`, { cause })
  }
}

/** Byte for byte what was hashed, as `ledger verify` has it: what a carriage return was added to is another file. */
function recordOf(text: string, line: number): JsonObject {
  const record = objectOf(text)
  if (record === undefined) throw new CommandFailed(`${lineName(line)} is no record of an export`)
  if (canonicalJson(record) !== text) throw new CommandFailed(`${lineName(line)}: it is not canonical JSON`)
  return record
}

function objectOf(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}

interface Part {
  readonly firstLine: number
  readonly records: readonly JsonObject[]
  readonly last: boolean
}

/** From a line on. */
async function* partsOf(path: string, from: number, lines: number): AsyncGenerator<Part, void, undefined> {
  let records: JsonObject[] = []
  let [line, bytes, marks] = [0, 0, 0]
  for await (const text of textsOf(path)) {
    if (line >= from) {
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
  if (line !== lines) throw new CommandFailed('the file was changed meanwhile')
  yield { firstLine: line - records.length, records, last: true }
}

/** At least as many as count. */
function marksIn(text: string): number {
  return text.match(/[[{:,]/g)?.length ?? 0
}

class Sending {
  private readonly client: HttpClient
  private readonly path: string
  private readonly file: FileEnd
  private readonly io: CommandIo

  constructor(client: HttpClient, path: string, file: FileEnd, io: CommandIo) {
    this.client = client
    this.path = path
    this.file = file
    this.io = io
  }

  async run(): Promise<number> {
    const { importId, lines } = this.file
    const found = await this.client.ask('GET', `/v1/imports/${importId}`)
    const { status, next_part: nextPart, lines: sent } = found.body
    if (found.status !== OK && found.status !== NOT_FOUND) return this.failed(found, 0)
    // What was refused may be taken now: the reason may be gone.
    if (found.status === NOT_FOUND || status === 'refused') return this.send(0, 0)
    if (status === 'staging' && typeof nextPart === 'number' && typeof sent === 'number' && sent < lines) {
      this.io.err(`going on behind ${sent} of ${lines} lines\n`)
      return this.send(nextPart, sent)
    }
    if (status === 'done') this.io.err('it was taken in already: nothing was changed\n')
    return this.watch()
  }

  private async send(firstPart: number, firstLine: number): Promise<number> {
    const { importId, lines } = this.file
    let part = firstPart
    for await (const { firstLine: from, records, last } of partsOf(this.path, firstLine, lines)) {
      const body = { import_id: importId, part, records, last }
      const answer = await this.client.ask('POST', '/v1/imports', body)
      if (answer.status !== OK && answer.status !== ACCEPTED) return this.failed(answer, from)
      this.io.err(`${from + records.length} of ${lines} lines sent\n`)
      if (answer.status === OK) return this.done(answer.body)
      part += 1
    }
    return this.watch()
  }

  /** All parts are there: the ledger goes on by itself. */
  private async watch(): Promise<number> {
    let shown = ''
    for (;;) {
      const answer = await this.client.ask('GET', `/v1/imports/${this.file.importId}`)
      if (answer.status !== OK) return this.failed(answer, 0)
      const { status, done, total, refusal } = answer.body
      if (status === 'done') return this.done(answer.body)
      if (status === 'refused') return this.refused(refusal)
      const progress =
        `${JSON.stringify(status)}: ${JSON.stringify(done)} of ${JSON.stringify(total)} steps\n`.replaceAll('"', '')
      if (progress !== shown) this.io.err(progress)
      shown = progress
      await pause(LOOK_AGAIN_MS)
    }
  }

  private done({ import_id: importId, summary }: JsonObject): number {
    this.io.out(`${JSON.stringify({ import_id: importId ?? null, ...(summary as JsonObject) })}\n`)
    return EXIT_OK
  }

  private refused(refusal: JsonObject[string] | undefined): number {
    const body = (refusal ?? {}) as JsonObject
    this.io.err(
      `ledger import: refused, nothing was taken in: ${inLineNames(problemText({ status: 409, body, retryAfterS: null }))}\n`,
    )
    return EXIT_FAILED
  }

  /** `from`: the line that the part began with. */
  private failed(answer: HttpAnswer, from: number): number {
    this.io.err(`ledger import: ${inLineNames(problemText(answer), from)}\n`)
    return EXIT_FAILED
  }
}
