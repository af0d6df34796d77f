import { collected } from '../../../api/client/collected.ts'
import { signMembers } from '../../../api/client/signing/sign-order.ts'
import { type CommandIo, type CommandSetup, integerBetween } from '../common/command.ts'
import { addExamples } from '../common/examples.ts'
import type { Column } from '../common/output.ts'
import { addSessionOptions, type SessionOptions, signingKey, withSession } from '../profile/session.ts'
import { addSigningOptions, idempotencyKey, type SigningOptions } from './order-options.ts'
import { noteReplay } from './submit-order.ts'

const MAX_DECIMALS = 18

const COLUMNS: readonly Column[] = [
  { name: 'token_id' },
  { name: 'decimals', right: true },
  { name: 'total_supply', right: true },
  { name: 'issuer' },
  { name: 'created_at' },
]

interface CreateOptions extends SigningOptions {
  readonly issuer: string
  readonly decimals: number
  readonly supply: string
}

export const tokenCommand: CommandSetup = (command, io) => {
  command.description('Registers tokens, and shows them.')
  const create = command.command('create').summary('register a token')
  addSigningOptions(
    create
      .description(
        `Registers a token. Its supply is credited to the issuer, which alone can mint more. The issuer's key
signs the registration if it is here; in production it must, unless the client is an admin.`,
      )
      .argument('<symbol>', 'symbol, which is also its ID')
      .requiredOption('--issuer <account>', 'account that issues it')
      .requiredOption(
        '--decimals <n>',
        `digits behind the point, 0 to ${MAX_DECIMALS}; they cannot change later`,
        integerBetween(0, MAX_DECIMALS),
      )
      .option('--supply <amount>', 'amount to issue at once', '0'),
  ).action((symbol: string, options: CreateOptions) => createToken(symbol, options, io))
  addExamples(create, ['ledger token create GOLD --issuer alice --decimals 2 --supply 1000'])

  const show = command.command('show').summary('show a token')
  addSessionOptions(show.description('Prints a token with its supply.').argument('<token>', 'token')).action(
    (tokenId: string, options: SessionOptions) =>
      withSession(options, io, async ({ client, output }) =>
        output.record(await client.call('getFungibleToken', { path: { tokenId } })),
      ),
  )
  addExamples(show, ['ledger token show GOLD'])

  const list = command.command('list').summary('list the tokens')
  addSessionOptions(list.description('Lists all tokens.')).action((options: SessionOptions) =>
    withSession(options, io, async ({ client, output }) =>
      output.table(await collected(client.list('listFungibleTokens')), COLUMNS, 'there are no tokens'),
    ),
  )
  addExamples(list, ['ledger token list', 'ledger token list --json'])
}

async function createToken(symbol: string, options: CreateOptions, io: CommandIo): Promise<void> {
  const { issuer, decimals, supply, key: file } = options
  await withSession(options, io, async (session) => {
    const { client, keyFiles, output } = session
    const found = file === undefined ? keyFiles.find(issuer) : keyFiles.read(issuer, file)
    const token = { symbol, decimals, issuer, total_supply: supply }
    const body = found === undefined ? token : await signMembers(token, await signingKey(found))
    const registration = { body, idempotencyKey: idempotencyKey(options, session) }
    const reply = await client.respond('createFungibleToken', registration)
    noteReplay(reply.headers, session)
    output.record(reply.body)
  })
}
