import { type Account, isLedgerError, type PublicJwk } from '../../../api/client/index.ts'
import { jwkOf, publicJwkOf, readPublicKey } from '../../keys/public-key.ts'
import { CommandFailed, type CommandIo, type CommandSetup, UsageError } from '../common/command.ts'
import { addExamples } from '../common/examples.ts'
import { jsonObjectOf, readGivenFile } from '../common/given-file.ts'
import type { KeyFile } from '../profile/key-files.ts'
import { addSessionOptions, type Session, type SessionOptions, withSession } from '../profile/session.ts'
import { keysCommand } from './account-keys.ts'

interface CreateOptions extends SessionOptions {
  readonly key?: string
  readonly publicKey?: string
}

interface StatusOptions extends SessionOptions {
  readonly reason: string
}

export const accountCommand: CommandSetup = (command, io) => {
  command.description('Registers accounts, shows and freezes them, and rotates their keys.')
  const create = command.command('create').summary('register accounts, each with a new key')
  addSessionOptions(
    create
      .description(
        `Registers accounts. The private key of each is generated here and stays here, in a file that only you can
read: XDG_CONFIG_HOME/ledger/keys or ~/.config/ledger/keys. Orders of the account are signed with it.
Keep a copy: a lost key cannot be replaced.

The command may be repeated: an account that has this key already is shown.`,
      )
      .argument('<account...>', 'IDs of the accounts')
      .option('--key <file>', 'existing private key (PEM) of the account, in place of a new one')
      .option('--public-key <file>', 'public key (JWK or PEM) of the account, whose private key is elsewhere'),
  ).action((accounts: readonly string[], options: CreateOptions) => createAccounts(accounts, options, io))
  addExamples(create, ['ledger account create alice', 'ledger account create shop --public-key shop.jwk'])

  const show = command.command('show').summary('show an account')
  addSessionOptions(
    show.description('Prints the status, the key ID and the position in the audit chain of an account.'),
  )
    .argument('<account>', 'account')
    .action((account: string, options: SessionOptions) =>
      withSession(options, io, async (session) => {
        printAccount(await session.client.call('getAccount', { path: { accountId: account } }), session)
      }),
    )
  addExamples(show, ['ledger account show alice'])

  for (const [name, status, summary] of [
    ['freeze', 'frozen', 'let an account only receive'],
    ['unfreeze', 'active', 'end the freeze of an account'],
  ] as const) {
    const change = command.command(name).summary(summary)
    addSessionOptions(
      change
        .description(
          `${name === 'freeze' ? 'Freezes an account: it may only receive, until ledger account unfreeze.' : 'Ends the freeze of an account.'}
The client must be an admin. The account's audit chain records the reason.`,
        )
        .argument('<account>', 'account')
        .requiredOption('--reason <text>', 'reason, for the audit chain'),
    ).action((account: string, { reason, ...options }: StatusOptions) =>
      withSession(options, io, async (session) => {
        const body = { status, reason }
        printAccount(await session.client.call('changeStatus', { path: { accountId: account }, body }), session)
      }),
    )
    addExamples(change, [`ledger account ${name} alice --reason 'case 17' --profile admin`])
  }
  keysCommand(command.command('keys').summary('list and rotate the keys of an account'), io)
}

async function createAccounts(accounts: readonly string[], options: CreateOptions, io: CommandIo): Promise<void> {
  const { key, publicKey } = options
  if (key !== undefined && publicKey !== undefined) throw new UsageError('give --key or --public-key, not both')
  if (accounts.length > 1 && (key ?? publicKey) !== undefined) {
    throw new UsageError('--key and --public-key are for one account')
  }
  await withSession(options, io, async (session) => {
    const given = publicKey === undefined ? undefined : readPublic(publicKey, io)
    for (const account of accounts) {
      await (given === undefined ? registerWithKey(account, key, session) : register(account, given, session))
    }
  })
}

async function registerWithKey(account: string, file: string | undefined, session: Session): Promise<void> {
  const { keyFiles, output } = session
  const known = file === undefined ? keyFiles.find(account) : keyFiles.read(account, file)
  const used = known ?? keyFiles.make(account)
  try {
    await register(account, publicJwkOf(used.key), session, used)
  } catch (error) {
    // A key that no account has must not be taken for the account's key later.
    if (known === undefined && isLedgerError(error) && error.outcome === 'not_applied') keyFiles.remove(used)
    throw error
  }
  if (file !== undefined) output.note(`sign with --key ${file}, or copy it to ${keyFiles.pathOf(account)}`)
}

async function register(account: string, publicKey: PublicJwk, session: Session, file?: KeyFile): Promise<void> {
  session.adviseIfUnknown('Run the same command again: the account is registered at most once.')
  printAccount(await session.client.registerAccount(account, { publicKey }), session, file)
}

function printAccount(account: Account, { keyFiles, output }: Session, file?: KeyFile): void {
  const { account_id, status, incoming, key_id, sequence, audit_hash, created_at, updated_at } = account
  const known = file ?? keyFiles.all(account_id).find(({ keyId }) => keyId === key_id)
  output.record(account, {
    account_id,
    status,
    incoming,
    key_id,
    key_file: known?.path,
    sequence,
    audit_hash,
    created_at,
    updated_at,
  })
}

/** Throws CommandFailed. */
function readPublic(name: string, io: CommandIo): PublicJwk {
  const text = readGivenFile(name, io).toString('utf8').trim()
  const read = readPublicKey(text.startsWith('{') ? jsonObjectOf(text) : text)
  if (read === undefined) throw new CommandFailed(`${name} is not a public P-256 key: a JWK, or PEM`)
  return jwkOf(read.publicKey)
}
