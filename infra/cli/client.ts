import { InvalidArgumentError, Option } from 'commander'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { ROLES } from '../../actors/account/commands.ts'
import { isTokenId } from '../../api/schemas/fields.ts'
import { clientMembers } from '../../api/views/client-views.ts'
import { areScopeEntries, SCOPE_RULE } from '../../actors/account-scope.ts'
import {
  type AccessStore,
  CLIENT_ID_FORM,
  CLIENT_ID_RULE,
  type ClientPage,
  type ClientRecord,
  NEW_CLIENT_ID_FORM,
  NEW_CLIENT_ID_RULE,
} from '../../runtime/ports/access-store.ts'
import { RATE_RULE, type OwnRate, readOwnRate, showOwnRate } from '../../actors/rate.ts'
import type { Configuration } from '../config/configuration.ts'
import { createClientSecrets } from '../keys/client-secrets.ts'
import { readPublicKey } from '../keys/public-key.ts'
import { existingMasterKeys, type LedgerSecrets, openLedgerSecrets } from '../ledger/ledger-secrets.ts'
import { clientDetails } from '../ledger/recorded-act.ts'
import { createAccessStore } from '../postgres/access/access-store-postgres.ts'
import { openStoreClock } from '../postgres/store/store-clock.ts'
import { CommandFailed, type CommandIo, type CommandSetup } from './common/command.ts'
import { withLedger } from './common/configured.ts'
import { type Emergency, recorded, unrecordedOption } from './common/recorded.ts'
import { givenPublicKey } from './common/given-public-key.ts'
import { addOutputOptions, createOutput, type Output, type OutputOptions } from './common/output.ts'

interface AddOptions extends Pick<ClientRecord, 'role'> {
  readonly id: string
  /** Undefined: true in the sandbox, false in production. */
  readonly boundary?: ClientRecord['boundary']
  readonly accounts?: ClientRecord['accounts']
  readonly rate?: OwnRate
  readonly publicKey?: string
}

export const clientCommand: CommandSetup = (command, io) => {
  command.description('Adds, changes, lists and revokes clients of the API.')
  command
    .command('add')
    .summary('add a client')
    .description(
      `Adds a client with a secret of 256 random bits, and prints both as JSON. The secret is printed only
this once.

With --public-key the client has no secret: it signs an assertion with its private key for each login
(private_key_jwt).`,
    )
    .requiredOption('--id <id>', 'client ID', newClientIdOf)
    .addOption(new Option('--role <role>', 'role of the client').choices(ROLES).makeOptionMandatory())
    .option(
      '--boundary <true|false|token,...>',
      'may bring value in from outside the ledger, in all or in these tokens (default: true in the sandbox, else false)',
      boundaryOf,
    )
    .option(
      '--accounts <id|prefix*,...>',
      'accounts that the client may see and use, by ID or prefix (default: all)',
      accountsOf,
    )
    .option('--rate <n[/burst]|none>', 'limit on its requests per second (default: LEDGER_CLIENT_RATE)', ownRateOf)
    .option('--public-key <file>', 'P-256 public key of the client (JWK or PEM; - for standard input)')
    .action((options: AddOptions) => withAccess(io, (access) => add(access, options, io)))
  command
    .command('set')
    .summary('change a client')
    .description('Changes the rate of a client. Every edge follows within 5 seconds.')
    .requiredOption('--id <id>', 'client ID', clientIdOf)
    .requiredOption(
      '--rate <n[/burst]|none|default>',
      'limit on its requests per second, at all edges together',
      newRateOf,
    )
    .action((options: SetOptions) => withAccess(io, (access) => set(access, options)))
  addOutputOptions(
    command.command('list').summary('list the clients').description('Lists all clients, without secrets.'),
  ).action((options: OutputOptions) => withAccess(io, ({ store }) => list(store, createOutput(options, io))))
  command
    .command('revoke')
    .summary('revoke a client')
    .description('Revokes a client and all its tokens within seconds. Its ID cannot be used again.')
    .requiredOption('--id <id>', 'client ID', clientIdOf)
    .addOption(unrecordedOption())
    .action(({ id, unrecorded }: { id: string; unrecorded: boolean }) =>
      withAccess(io, ({ store, asAct, now }) => {
        const work = async (): Promise<void> => {
          if (!(await store.revokeClient(id, await now()))) throw new CommandFailed(`there is no client ${id}`)
        }
        return asAct('client revoke', { client_id: id }, work, { unrecorded, io })
      }),
    )
}

interface SetOptions {
  readonly id: string
  readonly rate: OwnRate
}

interface Access {
  readonly store: AccessStore
  readonly configuration: Configuration
  readonly secrets: LedgerSecrets
  /** Does the work as an act of the administrative chain. */
  readonly asAct: <T>(act: string, details: JsonObject, work: () => Promise<T>, emergency?: Emergency) => Promise<T>
  /** PostgreSQL's time, milliseconds since 1970. */
  readonly now: () => Promise<number>
}

async function withAccess(io: CommandIo, work: (access: Access) => Promise<void>): Promise<void> {
  await withLedger(io, async (given) => {
    const { configuration, url, ledger } = given
    const secrets = openLedgerSecrets(await existingMasterKeys(configuration), ledger)
    const store = createAccessStore({
      url,
      vault: secrets.vault,
      onUnreadable: (clientId) =>
        io.err(`warning: the record of client ${clientId} is unreadable: every edge refuses the client\n`),
    })
    try {
      await work({
        store,
        configuration,
        secrets,
        asAct: (act, details, doing, emergency) => recorded(given, { act, details }, doing, emergency),
        now: async () => (await openStoreClock(url)).now(),
      })
    } finally {
      await store.close()
    }
  })
}

async function add(
  { store, configuration, secrets: { derive }, asAct, now }: Access,
  { id: clientId, role, boundary, accounts = null, rate = null, publicKey }: AddOptions,
  io: CommandIo,
): Promise<void> {
  const found = await store.findClient(clientId)
  if (found === 'unreadable') {
    throw new CommandFailed(`the record of client ${clientId} is unreadable: choose another ID`)
  }
  if (found !== undefined) throw new CommandFailed(`there already is a client ${clientId}`)
  const mayBringValue = boundary ?? configuration.environment === 'sandbox'
  const rights = {
    clientId,
    role,
    boundary: mayBringValue,
    accounts,
    rate,
    createdAtMs: await now(),
    revokedAtMs: null,
  }
  const put = (client: ClientRecord) => asAct('client add', clientDetails(client), () => store.putClient(client))
  if (publicKey !== undefined) {
    const key = await givenPublicKey(publicKey, io)
    await put({ ...rights, secretHash: null, publicKey: key.publicKey })
    io.out(`${JSON.stringify({ client_id: clientId, key_id: key.keyId, role })}\n`)
    return
  }
  const { secret, secretHash } = await createClientSecrets({ pepper: derive('client-secrets') }).create(clientId)
  await put({ ...rights, secretHash, publicKey: null })
  io.out(`${JSON.stringify({ client_id: clientId, client_secret: secret, role })}\n`)
}

async function set({ store, asAct }: Access, { id, rate }: SetOptions): Promise<void> {
  const details = { client_id: id, rate: showOwnRate(rate) }
  await asAct('client set', details, async () => {
    const changed = await store.setRate(id, rate)
    if (changed === undefined) throw new CommandFailed(`there is no client ${id}`)
    if (changed === 'unreadable') throw new CommandFailed(`the record of client ${id} is unreadable`)
  })
}

const PAGE_SIZE = 1_000

async function list(store: AccessStore, output: Output): Promise<void> {
  const all: ClientRecord[] = []
  let after: string | null = null
  do {
    const page: ClientPage = await store.listClients(after, PAGE_SIZE)
    all.push(...page.clients)
    after = page.next
  } while (after !== null)
  output.table(
    all.map((client) => clientMembers(client, readPublicKey)),
    ['client_id', 'key_id', 'role', 'boundary', 'accounts', 'rate', 'created_at', 'revoked_at'].map((name) => ({
      name,
    })),
    'there are no clients',
  )
}

function clientIdOf(value: string): string {
  if (CLIENT_ID_FORM.test(value)) return value
  throw new InvalidArgumentError(`It ${CLIENT_ID_RULE}.`)
}

function newClientIdOf(value: string): string {
  if (NEW_CLIENT_ID_FORM.test(value)) return value
  throw new InvalidArgumentError(`It ${NEW_CLIENT_ID_RULE}.`)
}

function boundaryOf(value: string): ClientRecord['boundary'] {
  if (value === 'true' || value === 'false') return value === 'true'
  const tokens = value.split(',')
  if (tokens.every(isTokenId)) return tokens
  throw new InvalidArgumentError('It must be true, false or token IDs separated by commas.')
}

function accountsOf(value: string): readonly string[] {
  const accounts = value.split(',')
  if (areScopeEntries(accounts)) return accounts
  throw new InvalidArgumentError(`It ${SCOPE_RULE}, separated by commas.`)
}

function ownRateOf(value: string): OwnRate {
  const rate = readOwnRate(value)
  if (rate !== undefined) return rate
  throw new InvalidArgumentError(`It must be ${RATE_RULE}, or none.`)
}

function newRateOf(value: string): OwnRate {
  return value === 'default' ? null : ownRateOf(value)
}
