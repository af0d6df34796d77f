/**
 * `ledger login`: stores the address of a ledger and the credentials of a client as a profile.
 *   L1. The secret comes from a prompt, a file or standard input, never from an argument, which process lists show.
 *   L2. A profile is stored only after the ledger has accepted the credentials.
 */
import { resolve } from 'node:path'
import { LedgerClient } from '../../../api/client/ledger-client.ts'
import { isLedgerError } from '../../../api/client/ledger-error.ts'
import { DEFAULT_PORT } from '../../config/variables.ts'
import { CommandFailed, type CommandIo, type CommandSetup, UsageError } from '../common/command.ts'
import { addExamples } from '../common/examples.ts'
import { createOutput, type OutputOptions } from '../common/output.ts'
import { clientSecret, ledgerAddress } from '../profile/client-secret.ts'
import { type LocalLedger, localLedger } from '../profile/local-ledger.ts'
import {
  credentialsOf,
  type Profile,
  profileName,
  type ProfileOptions,
  readProfile,
  storeProfile,
} from '../profile/profiles.ts'

interface LoginOptions extends ProfileOptions, OutputOptions {
  readonly url?: string
  readonly clientId?: string
  readonly secretFile?: string
  readonly keyFile?: string
}

type Login = Pick<Profile, 'url' | 'clientId' | 'proof'>

const LOCAL_CLIENT = 'transactor'

export const loginCommand: CommandSetup = (command, io) => {
  command
    .description(
      `Checks the credentials of a client and stores them as a profile, which the other commands use. The
profile is a file that only you can read, in XDG_CONFIG_HOME/ledger or ~/.config/ledger.

In the directory of npm start no option is needed: the address and the secret of the client
${LOCAL_CLIENT} are in .ledger (LEDGER_DATA_DIR).

The secret is read from a prompt, or from --secret-file. It is no argument, because process lists
show arguments.`,
    )
    .option('--profile <name>', 'name of the profile (default: LEDGER_PROFILE, else default)')
    .option('--url <url>', 'address of the ledger, such as https://ledger.example')
    .option('--client-id <id>', 'client ID')
    .option('--secret-file <file>', 'file with the secret, the output of ledger client add, or - for standard input')
    .option('--key-file <file>', 'in place of a secret: private key (PEM) of the client, which stays in this file')
    .option('--json', 'print the stored profile as JSON, without its secret')
    .action((options: LoginOptions) => login(options, io))
  addExamples(command, [
    'ledger login',
    'ledger login --profile books --url https://ledger.example --client-id books',
    'ledger login --profile admin --client-id admin',
    'ledger login --url https://ledger.example --client-id books --key-file books.pem',
  ])
}

async function login(options: LoginOptions, io: CommandIo): Promise<void> {
  const name = profileName(options, io)
  const given = await givenLogin(options, io)
  const { ledgerId, role } = await accepted(given)
  const { url, clientId } = given
  const earlier = storedProfile(name, io)
  const path = storeProfile({ name, ...given, ledgerId }, io)
  const output = createOutput(options, io)
  output.record({ profile: name, url, client_id: clientId, role, ledger_id: ledgerId, file: path })
  if (earlier !== undefined && (earlier.ledgerId !== ledgerId || earlier.url !== url)) {
    output.note(`replaced profile ${name}, which was of ledger ${earlier.ledgerId} at ${earlier.url}`)
  }
}

/** Undefined also for a file that no command can use: `ledger login` is the remedy. */
function storedProfile(name: string, io: CommandIo): Profile | undefined {
  try {
    return readProfile({ profile: name }, io)
  } catch (error) {
    if (error instanceof CommandFailed) return undefined
    throw error
  }
}

/** Throws UsageError and CommandFailed. */
async function givenLogin({ url, clientId, secretFile, keyFile }: LoginOptions, io: CommandIo): Promise<Login> {
  if (keyFile !== undefined) return loginWithKey({ url, clientId, secretFile, keyFile }, io)
  const local = url === undefined ? localLedger(dataDirectory(io)) : undefined
  if (local !== undefined) return localLogin(local, { clientId, secretFile }, io)
  if (url === undefined) {
    throw new UsageError(`--url is missing: there is no ledger of npm start in this directory (${dataDirectory(io)})`)
  }
  if (clientId === undefined) throw new UsageError('--client-id is missing')
  const address = ledgerAddress(url, io)
  return { url: address, clientId, proof: { clientSecret: await givenSecret(clientId, secretFile, io) } }
}

interface KeyLogin {
  readonly url: string | undefined
  readonly clientId: string | undefined
  readonly secretFile: string | undefined
  readonly keyFile: string
}

function loginWithKey({ url, clientId, secretFile, keyFile }: KeyLogin, io: CommandIo): Login {
  if (secretFile !== undefined) throw new UsageError('give --secret-file or --key-file, not both')
  if (url === undefined || clientId === undefined) throw new UsageError('--key-file needs --url and --client-id')
  return { url: ledgerAddress(url, io), clientId, proof: { keyFile: resolve(io.cwd, keyFile) } }
}

async function localLogin(
  { address, clientsFile }: LocalLedger,
  {
    clientId = LOCAL_CLIENT,
    secretFile = clientsFile,
  }: { readonly clientId: string | undefined; readonly secretFile: string | undefined },
  io: CommandIo,
): Promise<Login> {
  if (secretFile === clientsFile) io.err(`using the secret of ${clientId} in ${clientsFile}\n`)
  const port = io.env['LEDGER_PORT'] ?? String(DEFAULT_PORT)
  return {
    url: ledgerAddress(address ?? `http://127.0.0.1:${port}`, io),
    clientId,
    proof: { clientSecret: await clientSecret(secretFile, clientId, io) },
  }
}

async function givenSecret(clientId: string, secretFile: string | undefined, io: CommandIo): Promise<string> {
  if (secretFile !== undefined) return clientSecret(secretFile, clientId, io)
  if (!io.terminal.input) {
    throw new UsageError(
      'the secret is missing: name its file with --secret-file (- for standard input), or use a terminal',
    )
  }
  const secret = (await io.readHidden(`secret of client ${clientId}: `)).trim()
  if (secret === '') throw new CommandFailed('the secret is empty')
  return secret
}

/** The ledger's ID and the client's role, once the ledger has issued a token (L2). Throws CommandFailed. */
async function accepted(login: Login): Promise<{ ledgerId: string; role: string }> {
  let accessToken = ''
  const client = new LedgerClient({
    url: login.url,
    credentials: credentialsOf(login),
    // A wrong address must not be tried for long.
    retry: { attempts: 1 },
    tokenStore: { load: () => undefined, save: (tokens) => void (accessToken = tokens.accessToken) },
  })
  try {
    await client.login()
    const { ledger_id: ledgerId } = await client.keySet()
    return { ledgerId, role: roleIn(accessToken) }
  } catch (error) {
    if (!isLedgerError(error)) throw error
    throw new CommandFailed(error.message, { cause: error })
  }
}

/** The ledger has signed the token just now, so that its claims need no verification. */
function roleIn(accessToken: string): string {
  const claims: unknown = JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString() || '{}')
  const isObject = typeof claims === 'object' && claims !== null && 'role' in claims
  return isObject ? String(claims.role) : 'unknown'
}

function dataDirectory({ cwd, env }: CommandIo): string {
  const given = env['LEDGER_DATA_DIR'] ?? ''
  return resolve(cwd, given === '' ? '.ledger' : given)
}
