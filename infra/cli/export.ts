/**
 * `ledger export`: what POST /v1/exports answers, in a file that is there once it is whole and verifies.
 *   X1. The file is begun before the ledger is asked: a move empties and closes accounts, and must not do so for nothing.
 *   X2. Whatever goes wrong once a move may have begun, it is said that the accounts may have left, and what to do.
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import {
  CommandFailed,
  EXIT_OK,
  readArgs,
  required,
  UsageError,
  type Command,
  type CommandIo,
} from './common/command.ts'
import { readJwks } from './verify/export-file.ts'
import {
  CLIENT_HELP,
  CLIENT_OPTIONS,
  type HttpClient,
  LedgerUnreachable,
  openHttpClient,
  problemText,
  readAnswer,
} from './common/http-client.ts'
import { FileUnwritable, type NewFile, withNewFile } from './common/new-file.ts'
import { readRecipient } from './recipient.ts'
import { checkExportFile, summaryText } from './verify/verify-export.ts'
import type { ReceiptKeys } from './verify/verify-receipt.ts'

const MAX_ACCOUNTS = 1_000
const OK = 200
const INTERNAL_ERROR = 500
const PROGRESS_BYTES = 16 * 1024 * 1024

export const exportCommand: Command = {
  summary: 'export accounts for another ledger',
  help: `Usage: ledger export --url URL --client ID --secret-file FILE --recipient-key FILE [--audience LEDGER_ID]
                     --requester TEXT --out FILE [--move] (--all | --accounts FILE | ACCOUNT...)

Exports accounts, the tokens that they hold, and their NFTs with classes and attestations, for the ledger that
--recipient-key is of. The file is there once it is whole and its proof verifies under the keys of this ledger.

${CLIENT_HELP}
  --recipient-key FILE the answer of GET /v1/imports/key of the receiving ledger; or its key as a JWK or PEM
  --audience LEDGER_ID the receiving ledger, where that file does not say it
  --requester TEXT     who asks for it: it is signed
  --accounts FILE      account IDs, one a line; up to 1,000, as on the command line
  --all                everything that the client may see
  --move               the accounts, which must be frozen, are emptied here and close for good; done again it gives the
                       same again
  --out FILE           where to write it; must not be there yet

The client must be an administrator.
`,
  run: async (args, io) => {
    const { values, positionals } = readArgs(
      args,
      {
        ...CLIENT_OPTIONS,
        'recipient-key': { type: 'string' },
        audience: { type: 'string' },
        requester: { type: 'string' },
        accounts: { type: 'string' },
        all: { type: 'boolean' },
        move: { type: 'boolean' },
        out: { type: 'string' },
      },
      { least: 0, most: MAX_ACCOUNTS, what: 'ACCOUNT' },
    )
    const out = required(values.out, 'out')
    const requester = required(values.requester, 'requester')
    const accounts = accountsOf(values, positionals, io)
    const recipient = readRecipient(required(values['recipient-key'], 'recipient-key'), values.audience, io)
    const mode = values.move === true ? 'move' : 'copy'
    if (mode === 'move' && accounts === 'all') throw new UsageError('--move is for accounts that are named')
    const named = accounts === 'all' ? [] : accounts
    const body = { requester, ...(accounts === 'all' ? { all: true } : { account_ids: accounts }), mode, ...recipient }
    const client = openHttpClient(values, io)
    await exportTo(out, new Exporting(client, { body, named, mode }, io), io)
    return EXIT_OK
  },
}

async function exportTo(out: string, exporting: Exporting, io: CommandIo): Promise<void> {
  try {
    await withNewFile(out, io, (file) => exporting.into(file, out))
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const after = exporting.told(error)
    throw after === undefined ? error : new CommandFailed(`${error.message}; ${after}`, { cause: error })
  }
}

interface Asked {
  readonly body: object
  /** By ID; none: all. */
  readonly named: readonly string[]
  readonly mode: 'move' | 'copy'
}

/** How far the ledger has come with it, as far as is known here. `unknown`: it was asked, and nothing came back. */
type Progress = 'not asked' | 'unknown' | 'refused' | 'exported'

class Exporting {
  private readonly client: HttpClient
  private readonly asked: Asked
  private readonly io: CommandIo
  private progress: Progress = 'not asked'

  constructor(client: HttpClient, asked: Asked, io: CommandIo) {
    this.client = client
    this.asked = asked
    this.io = io
  }

  /** `name`: of the file, for messages. */
  async into(file: NewFile, name: string): Promise<void> {
    const keys = await this.keys()
    this.progress = 'unknown'
    const response = await this.client.send('POST', '/v1/exports', this.asked.body)
    if (response.status !== OK || response.body === null) {
      if (response.status < INTERNAL_ERROR) this.progress = 'refused'
      const answer = await readAnswer(response)
      if (answer.body['outcome'] === 'not_applied') this.progress = 'refused'
      throw new CommandFailed(this.named(problemText(answer)))
    }
    this.progress = 'exported'
    await this.receive(response.body, file)
    const checked = await checkExportFile(file.unfinished, name, keys)
    if (!checked.ok) throw new CommandFailed(`what the ledger sent does not hold: ${checked.problem}`)
    await file.finish()
    this.io.out(`ok: ${summaryText(checked.summary)}\n`)
  }

  /** What is to be said behind an error; undefined: nothing. */
  told(error: Error): string | undefined {
    const { progress } = this
    if (progress === 'not asked') return error instanceof FileUnwritable ? 'nothing was exported' : undefined
    if (this.asked.mode !== 'move' || progress === 'refused') return undefined
    if (progress === 'unknown') {
      return 'whether the accounts have left this ledger is not known: the same command does what is left, and writes the file'
    }
    const again = error instanceof FileUnwritable ? 'the same command with another --out' : 'the same command'
    return `the accounts have left this ledger, and ${again} writes the file again`
  }

  private async receive(body: ReadableStream, file: NewFile): Promise<void> {
    let [bytes, told] = [0, 0]
    try {
      for await (const chunk of Readable.fromWeb(body) as AsyncIterable<Uint8Array>) {
        await file.write(chunk)
        bytes += chunk.length
        if (bytes - told < PROGRESS_BYTES) continue
        told = bytes
        this.io.err(`${Math.floor(bytes / 1024 / 1024)} MiB received\n`)
      }
    } catch (cause) {
      if (cause instanceof FileUnwritable) throw cause
      throw new LedgerUnreachable('the export broke off, and is not whole: ask for it again', { cause })
    }
  }

  /** Before the export: what is missing then costs nothing. */
  private async keys(): Promise<ReceiptKeys> {
    const answer = await this.client.ask('GET', '/.well-known/jwks.json')
    if (answer.status !== OK) throw new CommandFailed(`the ledger does not give its keys: ${problemText(answer)}`)
    return readJwks(JSON.stringify(answer.body), 'its /.well-known/jwks.json')
  }

  /** The interface names accounts by their places in what was sent. */
  private named(text: string): string {
    return text.replaceAll(/\baccount_ids\[(\d+)\]/g, (place, at: string) => this.asked.named[Number(at)] ?? place)
  }
}

interface AccountValues {
  readonly all?: boolean | undefined
  readonly accounts?: string | undefined
}

function accountsOf({ all, accounts }: AccountValues, positionals: readonly string[], io: CommandIo) {
  const ways = [all === true, accounts !== undefined, positionals.length > 0].filter(Boolean)
  if (ways.length !== 1) throw new UsageError('say which accounts in one way: ACCOUNT..., --accounts FILE or --all')
  if (all === true) return 'all'
  if (accounts === undefined) return positionals
  const lines = readText(accounts, io)
    .split('\n')
    .map((line) => line.trim())
  const named = lines.filter((line) => line !== '')
  if (named.length === 0 || named.length > MAX_ACCOUNTS) {
    throw new CommandFailed(`${accounts} must hold 1 to ${MAX_ACCOUNTS} account IDs, one a line`)
  }
  return named
}

function readText(name: string, io: CommandIo): string {
  try {
    return readFileSync(resolve(io.cwd, name), 'utf8')
  } catch (cause) {
    throw new CommandFailed(`${name} cannot be read`, { cause })
  }
}
