/**
 * `ledger export`: writes the reply of POST /v1/exports to a new file, once it is complete and verified.
 *   X1. The file is created before the request: a move empties and closes accounts, and must not do so in vain.
 *   X2. Every error after a move may have begun also reports that the accounts may have left, and what to do.
 */
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { Http } from '../../api/client/http.ts'
import { isLedgerError } from '../../api/client/ledger-error.ts'
import { CommandFailed, UsageError, type CommandIo, type CommandSetup } from './common/command.ts'
import { readGivenText } from './common/given-file.ts'
import { failureText } from './common/problem-text.ts'
import { addClientOptions, addFormerClientOption, type ClientOptions, ledgerAccess } from './profile/client-options.ts'
import { FileUnwritable, type NewFile, withNewFile } from './common/new-file.ts'
import { shownText } from './common/shown-text.ts'
import { readRecipient } from './recipient.ts'
import { readJwks } from './verify/export-file.ts'
import { checkExportFile, summaryText } from './verify/verify-export.ts'
import type { ReceiptKeys } from './verify/jwks.ts'

const MAX_ACCOUNTS = 1_000
const TIMEOUT_MS = 60_000
const PROGRESS_BYTES = 16 * 1024 * 1024

interface ExportOptions extends ClientOptions {
  readonly recipientKey: string
  readonly audience?: string
  readonly requester: string
  readonly accounts?: string
  readonly all?: boolean
  readonly move?: boolean
  readonly out: string
}

export const exportCommand: CommandSetup = (command, io) => {
  addFormerClientOption(command)
  addClientOptions(
    command
      .description(
        `Exports accounts, their tokens, and their NFTs with classes and attestations, for another ledger. The
file appears when it is complete and its proof verifies under the keys of this ledger.`,
      )
      .argument('[account...]', `IDs of up to ${MAX_ACCOUNTS} accounts`),
  )
    .requiredOption(
      '--recipient-key <file>',
      'response of GET /v1/imports/key of the receiving ledger; or its key as a JWK or PEM',
    )
    .option('--audience <ledger-id>', 'ID of the receiving ledger, if the key file does not contain it')
    .requiredOption('--requester <text>', 'person or system that requests the export; the ledger signs it')
    .option('--accounts <file>', `file of up to ${MAX_ACCOUNTS} account IDs, one a line`)
    .option('--all', 'export all accounts that the client may see')
    .option('--move', 'empty and close the accounts, which must be frozen; safe to repeat')
    .requiredOption('--out <file>', 'new file for the export')
    .action(async (given: readonly string[], options: ExportOptions) => {
      const { requester, all = false, move = false, out } = options
      const accountIds = await accountsOf(options, given, io)
      const recipient = await readRecipient(options.recipientKey, options.audience, io)
      if (move && all) throw new UsageError('--move needs named accounts, not --all')
      const mode = move ? 'move' : 'copy'
      const body = { requester, ...(all ? { all } : { account_ids: accountIds }), mode, ...recipient }
      // The user repeats the command: an error says where the accounts are.
      const client = new Http({ ...(await ledgerAccess(options, io)), retry: { attempts: 1 }, timeoutMs: TIMEOUT_MS })
      await exportTo(out, new Export(client, { body, accountIds, mode }, io), io)
    })
}

async function exportTo(out: string, exporting: Export, io: CommandIo): Promise<void> {
  try {
    await withNewFile(out, io, (file) => exporting.writeTo(file, out))
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const advice = exporting.adviceAfter(error)
    throw advice === undefined ? error : new CommandFailed(`${error.message}; ${advice}`, { cause: error })
  }
}

interface ExportRequest {
  readonly body: object
  /** Empty: all accounts. */
  readonly accountIds: readonly string[]
  readonly mode: 'move' | 'copy'
}

/** `unknown`: the request was sent, and no reply has arrived. */
type Progress = 'not sent' | 'unknown' | 'refused' | 'exported'

class Export {
  private readonly client: Http
  private readonly request: ExportRequest
  private readonly io: CommandIo
  private progress: Progress = 'not sent'

  constructor(client: Http, request: ExportRequest, io: CommandIo) {
    this.client = client
    this.request = request
    this.io = io
  }

  /** `name`: of the file, for messages. */
  async writeTo(file: NewFile, name: string): Promise<void> {
    const keys = await this.readKeys()
    this.progress = 'unknown'
    const body = await this.start()
    this.progress = 'exported'
    await this.receive(body, file)
    const checked = await checkExportFile(file.unfinished, name, keys)
    if (!checked.ok) throw new CommandFailed(`the export of the ledger does not verify: ${checked.problem}`)
    await file.finish()
    this.io.out(`ok: ${shownText(summaryText(checked.summary))}\n`)
  }

  /** Throws CommandFailed for a refusal. */
  private async start(): Promise<ReadableStream> {
    try {
      const { body } = await this.client.stream({ method: 'POST', path: '/v1/exports', body: this.request.body })
      if (body !== null) return body
      throw new CommandFailed('the ledger sent no export')
    } catch (error) {
      if (!isLedgerError(error)) throw error
      if (error.outcome === 'not_applied') this.progress = 'refused'
      throw new CommandFailed(this.withAccountIds(failureText(error)), { cause: error })
    }
  }

  /** The state of the accounts, and the next step, to print after the error; undefined: none. */
  adviceAfter(error: Error): string | undefined {
    const { progress } = this
    if (progress === 'not sent') return error instanceof FileUnwritable ? 'nothing was exported' : undefined
    if (this.request.mode !== 'move' || progress === 'refused') return undefined
    if (progress === 'unknown') {
      return 'the accounts may have left this ledger: run the same command again to finish the move and write the file'
    }
    const again = error instanceof FileUnwritable ? 'the same command with another --out' : 'the same command'
    return `the accounts have left this ledger: run ${again} to write the file`
  }

  private async receive(body: ReadableStream, file: NewFile): Promise<void> {
    let [bytes, printed] = [0, 0]
    try {
      for await (const chunk of Readable.fromWeb(body) as AsyncIterable<Uint8Array>) {
        await file.write(chunk)
        bytes += chunk.length
        if (bytes - printed < PROGRESS_BYTES) continue
        printed = bytes
        this.io.err(`${Math.floor(bytes / 1024 / 1024)} MiB received\n`)
      }
    } catch (cause) {
      if (cause instanceof FileUnwritable) throw cause
      throw new CommandFailed('the export was cut off: request it again', { cause })
    }
  }

  private async readKeys(): Promise<ReceiptKeys> {
    try {
      const { body } = await this.client.request<object>({ method: 'GET', path: '/.well-known/jwks.json', open: true })
      return readJwks(JSON.stringify(body), 'its /.well-known/jwks.json')
    } catch (error) {
      if (!isLedgerError(error)) throw error
      throw new CommandFailed(`the ledger does not publish its keys: ${failureText(error)}`, { cause: error })
    }
  }

  /** The API names accounts by their places in the request. */
  private withAccountIds(text: string): string {
    const { accountIds } = this.request
    return text.replaceAll(/\baccount_ids\[(\d+)\]/g, (place, index: string) => accountIds[Number(index)] ?? place)
  }
}

async function accountsOf(
  { all = false, accounts }: ExportOptions,
  given: readonly string[],
  io: CommandIo,
): Promise<readonly string[]> {
  if ([all, accounts !== undefined, given.length > 0].filter(Boolean).length !== 1) {
    throw new UsageError('name the accounts in one way: as arguments, by --accounts FILE or by --all')
  }
  const lines = accounts === undefined ? given : (await readGivenText(accounts, io)).split('\n')
  const ids = lines.map((line) => line.trim()).filter((line) => line !== '')
  if (!all && (ids.length === 0 || ids.length > MAX_ACCOUNTS)) {
    throw new UsageError(
      `name 1 to ${MAX_ACCOUNTS} accounts${accounts === undefined ? '' : `, one a line of ${accounts}`}`,
    )
  }
  return ids
}
