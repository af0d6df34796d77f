/** The client of the commands that name one by options; by default that of the profile. */
import { type Command, Option } from 'commander'
import type { Credentials } from '../../../api/client/access-tokens.ts'
import { Http, type HttpOptions } from '../../../api/client/http.ts'
import { isLedgerError } from '../../../api/client/ledger-error.ts'
import { CommandFailed, type CommandIo, UsageError } from '../common/command.ts'
import { clientSecret, ledgerAddress } from './client-secret.ts'
import { addProfileOption, credentialsOf, type ProfileOptions, readProfile } from './profiles.ts'

const SERVER_ERROR = 500

export type LedgerAccess = Pick<HttpOptions, 'url' | 'ledgerId'> & { readonly credentials: Credentials }

export interface ClientOptions extends ProfileOptions {
  readonly url?: string
  readonly clientId?: string
  /** `--client`: the name of `--client-id` until version 0.7. */
  readonly client?: string
  readonly secretFile?: string
}

/** `clientId`: the description of its option. */
export function addClientOptions(command: Command, clientId = 'client ID; the client must be an admin'): Command {
  return addProfileOption(command)
    .option('--url <url>', 'in place of a profile: address of the ledger, such as http://127.0.0.1:8080')
    .option('--client-id <id>', clientId)
    .option('--secret-file <file>', 'its secret alone, the output of ledger client add, or .ledger/clients.json')
}

/** For commands that had it in a release. */
export function addFormerClientOption(command: Command): Command {
  return command.addOption(new Option('--client <id>').hideHelp())
}

/** Throws UsageError and CommandFailed. Sends no request. */
export async function ledgerAccess(options: ClientOptions, io: CommandIo): Promise<LedgerAccess> {
  const { url, client: former, clientId = former, secretFile, profile } = options
  if (url === undefined && clientId === undefined && secretFile === undefined) {
    const stored = readProfile(options, io)
    return { url: stored.url, ledgerId: stored.ledgerId, credentials: credentialsOf(stored) }
  }
  if (profile !== undefined) {
    throw new UsageError('--profile has its own address and client: leave out --url, --client-id and --secret-file')
  }
  if (url === undefined || clientId === undefined || secretFile === undefined) {
    throw new UsageError('--url, --client-id and --secret-file belong together; without them the profile is used')
  }
  const credentials = { clientId, clientSecret: await clientSecret(secretFile, clientId, io) }
  return { url: ledgerAddress(url, io), credentials }
}

/**
 * For commands that try for long: throws CommandFailed if nothing responds at the address, or something else than a ledger
 * does. The address may be wrong, and the commands would send it the secret. A 5xx may be of a proxy before the ledger.
 */
export async function refuseOthers(access: LedgerAccess): Promise<void> {
  try {
    const http = new Http({ ...access, retry: { attempts: 1 } })
    await http.request({ method: 'GET', path: '/.well-known/jwks.json', open: true })
  } catch (error) {
    if (!isLedgerError(error)) throw error
    const isOther = error.code === 'ERR_UNREADABLE_RESPONSE' && error.status < SERVER_ERROR
    if (isOther) throw new CommandFailed(`nothing at ${access.url} is a ledger: ${error.message}`, { cause: error })
    if (error.status === 0) throw new CommandFailed(error.message, { cause: error })
  }
}
