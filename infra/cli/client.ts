import { ROLES, type Role } from '../../actors/account/commands.ts'
import { areScopeEntries, SCOPE_RULE } from '../../actors/account-scope.ts'
import type { AccessStore, ClientRecord } from '../../runtime/ports/access-store.ts'
import { CLIENT_ID_FORM } from '../config/bootstrap-client.ts'
import type { Configuration } from '../config/configuration.ts'
import { createClientSecrets, generateClientSecret } from '../keys/client-secrets.ts'
import type { LedgerSecrets } from '../ledger/ledger-secrets.ts'
import { createAccessStore } from '../postgres/access/access-store-postgres.ts'
import { openStoreClock } from '../postgres/store/store-clock.ts'
import {
  CommandFailed,
  EXIT_FAILED,
  EXIT_OK,
  readArgs,
  required,
  UsageError,
  type Command,
  type CommandIo,
} from './common/command.ts'
import { configurationOf, refuseMissingInProduction, withDatabase } from './common/configured.ts'
import { openedSecrets } from './opened-secrets.ts'

export const clientCommand: Command = {
  summary: 'add, list and revoke clients',
  help: `Usage: ledger client add --id ID --role ${ROLES.join('|')} [--boundary true|false|TOKEN,TOKEN...]
                         [--accounts ID,PREFIX*...]
       ledger client list
       ledger client revoke --id ID

add makes a client with a secret of 256 random bits and prints both as JSON; the secret is shown this once. --boundary
says whether it may bring value in from outside the ledger, or in which tokens (true by default in the sandbox, false
in production). --accounts scopes it to accounts, by their IDs or by how these begin: for this client there are no
others. list prints one client a line as JSON, without secrets. revoke ends a client and all its tokens within
seconds; its ID stays taken.
`,
  run: async (args, io) => {
    const { values, positionals } = readArgs(
      args,
      { id: { type: 'string' }, role: { type: 'string' }, boundary: { type: 'string' }, accounts: { type: 'string' } },
      { least: 1, most: 1, what: 'add, list or revoke' },
    )
    const action = actionOf(positionals[0] ?? '', values, io)
    const configuration = configurationOf(io)
    refuseMissingInProduction({ ...configuration, nats: { ...configuration.nats, urls: [] } }, false)
    return withDatabase(configuration, io, async (url) => {
      const secrets = await openedSecrets(configuration, url)
      const access = createAccessStore({
        url,
        vault: secrets.vault,
        onUnreadable: (clientId) => io.err(`warning: client ${clientId} cannot be read, and is let in nowhere\n`),
      })
      try {
        const now = async (): Promise<number> => (await openStoreClock(url)).now()
        return await action({ access, configuration, secrets, now })
      } finally {
        await access.close()
      }
    })
  },
}

interface ActionContext {
  readonly access: AccessStore
  readonly configuration: Configuration
  readonly secrets: LedgerSecrets
  /** PostgreSQL's time, milliseconds since 1970. */
  readonly now: () => Promise<number>
}

type Action = (context: ActionContext) => Promise<number>
type Values = { readonly [name in 'id' | 'role' | 'boundary' | 'accounts']?: string | undefined }

/** Judges the arguments before any database is touched. */
function actionOf(name: string, values: Values, io: CommandIo): Action {
  switch (name) {
    case 'add':
      return adding(
        {
          clientId: clientIdOf(values.id),
          role: roleOf(values.role),
          boundary: boundaryOf(values.boundary),
          accounts: accountsOf(values.accounts),
        },
        io,
      )
    case 'list':
      return ({ access }) => list(access, io)
    case 'revoke':
      return revoking(clientIdOf(values.id), io)
    default:
      throw new UsageError(`there is no "client ${name}"`)
  }
}

interface NewClient extends Pick<ClientRecord, 'clientId' | 'role' | 'accounts'> {
  /** Undefined: as the environment has it by default. */
  readonly boundary: ClientRecord['boundary'] | undefined
}

function adding({ clientId, role, boundary, accounts }: NewClient, io: CommandIo): Action {
  return async ({ access, configuration, secrets: { derive }, now }) => {
    const found = await access.findClient(clientId)
    if (found === 'unreadable') throw new CommandFailed(`client ${clientId} cannot be read: take another ID`)
    if (found !== undefined) throw new CommandFailed(`there is a client ${clientId} already`)
    const secret = generateClientSecret()
    const secrets = createClientSecrets({ pepper: derive('client-secrets') })
    await access.putClient({
      clientId,
      secretHash: await secrets.hash(clientId, secret),
      role,
      boundary: boundary ?? configuration.environment === 'sandbox',
      accounts,
      createdAtMs: await now(),
      revokedAtMs: null,
    })
    io.out(`${JSON.stringify({ client_id: clientId, client_secret: secret, role })}\n`)
    return EXIT_OK
  }
}

async function list(access: AccessStore, io: CommandIo): Promise<number> {
  for (const client of await access.listClients()) {
    io.out(
      `${JSON.stringify({
        client_id: client.clientId,
        role: client.role,
        boundary: client.boundary,
        accounts: client.accounts,
        created_at: new Date(client.createdAtMs).toISOString(),
        revoked_at: client.revokedAtMs === null ? null : new Date(client.revokedAtMs).toISOString(),
      })}\n`,
    )
  }
  return EXIT_OK
}

function revoking(clientId: string, io: CommandIo): Action {
  return async ({ access, now }) => {
    if (await access.revokeClient(clientId, await now())) return EXIT_OK
    io.err(`ledger client: there is no client ${clientId}\n`)
    return EXIT_FAILED
  }
}

function clientIdOf(value: string | undefined): string {
  const clientId = required(value, 'id')
  if (CLIENT_ID_FORM.test(clientId)) return clientId
  throw new UsageError('--id must be 1 to 128 printable ASCII characters without spaces')
}

function roleOf(value: string | undefined): Role {
  const role = ROLES.find((known) => known === value)
  if (role === undefined) throw new UsageError(`--role must be one of ${ROLES.join(', ')}`)
  return role
}

function boundaryOf(value: string | undefined): ClientRecord['boundary'] | undefined {
  if (value === undefined) return undefined
  if (value === 'true' || value === 'false') return value === 'true'
  const tokens = value.split(',')
  if (tokens.some((token) => token === ''))
    throw new UsageError('--boundary must be true, false or token IDs with commas between them')
  return tokens
}

function accountsOf(value: string | undefined): ClientRecord['accounts'] {
  if (value === undefined) return null
  const accounts = value.split(',')
  if (areScopeEntries(accounts)) return accounts
  throw new UsageError(`--accounts ${SCOPE_RULE}, with commas between them`)
}
