/**
 * `ledger export`: what POST /v1/exports answers, in a file that is there once it is whole and verifies.
 *   X1. Until then it has another name, and is removed when it does not come to its end.
 */
import { createWriteStream, existsSync, readFileSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Json, JsonObject } from '../../actors/canonical-json.ts'
import { parseStrictJson } from '../../api/json-text.ts'
import type { ExportKeys } from '../portability/export-check.ts'
import { CommandFailed, EXIT_OK, readArgs, required, UsageError, type Command, type CommandIo } from './command.ts'
import { readJwks } from './export-file.ts'
import {
  CLIENT_HELP,
  CLIENT_OPTIONS,
  type HttpClient,
  LedgerUnreachable,
  openHttpClient,
  problemText,
  readAnswer,
} from './http-client.ts'
import { checkExportFile, summaryText } from './verify-export.ts'

const MAX_ACCOUNTS = 1_000
const OK = 200
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
    const out = resolve(io.cwd, required(values.out, 'out'))
    const requester = required(values.requester, 'requester')
    const recipient = readRecipient(required(values['recipient-key'], 'recipient-key'), values.audience, io)
    const accounts = accountsOf(values, positionals, io)
    if (values.move === true && accounts === 'all') throw new UsageError('--move is for accounts that are named')
    if (existsSync(out)) throw new CommandFailed(`${values.out} is there already`)
    const body = {
      requester,
      ...(accounts === 'all' ? { all: true } : { account_ids: accounts }),
      mode: values.move === true ? 'move' : 'copy',
      ...recipient,
    }
    const client = openHttpClient(values, io)
    await exportTo(out, client, body, io)
    return EXIT_OK
  },
}

async function exportTo(out: string, client: HttpClient, body: object, io: CommandIo): Promise<void> {
  const response = await client.send('POST', '/v1/exports', body)
  if (response.status !== OK || response.body === null) throw new CommandFailed(problemText(await readAnswer(response)))
  const partial = `${out}.part-${process.pid}`
  try {
    try {
      const written = createWriteStream(partial, { flags: 'wx', mode: 0o600 })
      await pipeline(Readable.fromWeb(response.body), progressOf(io), written)
    } catch (cause) {
      throw new LedgerUnreachable('the export broke off, and is not whole: ask for it again', { cause })
    }
    const checked = await checkExportFile(partial, out, await keysOf(client))
    if (typeof checked === 'string') throw new CommandFailed(`what the ledger sent does not hold: ${checked}`)
    await settle(partial, out)
    io.out(`ok: ${summaryText(checked)}\n`)
  } finally {
    await rm(partial, { force: true })
  }
}

/** Says what has come by now. */
function progressOf(io: CommandIo): Transform {
  let [bytes, told] = [0, 0]
  return new Transform({
    transform: (chunk: Uint8Array, _encoding, pass) => {
      bytes += chunk.length
      if (bytes - told >= PROGRESS_BYTES) {
        told = bytes
        io.err(`${Math.floor(bytes / 1024 / 1024)} MiB received\n`)
      }
      pass(null, chunk)
    },
  })
}

/** After a crash the file is whole, or not there. */
async function settle(partial: string, out: string): Promise<void> {
  const file = await open(partial, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(partial, out)
}

async function keysOf(client: HttpClient): Promise<ExportKeys> {
  const answer = await client.ask('GET', '/.well-known/jwks.json')
  if (answer.status !== OK) throw new CommandFailed(`the ledger does not give its keys: ${problemText(answer)}`)
  return readJwks(JSON.stringify(answer.body), '/.well-known/jwks.json')
}

interface Recipient {
  readonly audience: string
  readonly recipient_public_key: Json
}

/** Whose key it is, where the file says it, and `audience` must be the same. */
function readRecipient(name: string, audience: string | undefined, io: CommandIo): Recipient {
  const text = readText(name, io)
  const parsed = parseStrictJson(text)
  const said: JsonObject = parsed.ok && isObject(parsed.value) ? parsed.value : {}
  const { ledger_id: ledgerId, public_key: publicKey } = said
  if (typeof ledgerId === 'string' && audience !== undefined && audience.toLowerCase() !== ledgerId) {
    throw new UsageError(`--audience is not the ledger of ${name}, ${ledgerId}`)
  }
  const key = publicKey ?? (parsed.ok ? said : text.trim())
  return {
    audience: typeof ledgerId === 'string' ? ledgerId : required(audience, 'audience'),
    recipient_public_key: key,
  }
}

interface AccountValues {
  readonly all?: boolean | undefined
  readonly accounts?: string | undefined
}

function accountsOf({ all, accounts }: AccountValues, positionals: readonly string[], io: CommandIo) {
  const ways = [all === true, accounts !== undefined, positionals.length > 0].filter(Boolean)
  if (ways.length !== 1) throw new UsageError('say which accounts: ACCOUNT..., --accounts FILE or --all')
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

function isObject(value: Json): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
