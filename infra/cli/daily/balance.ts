import { collected } from '../../../api/client/collected.ts'
import type { Balance } from '../../../api/client/index.ts'
import type { CommandSetup } from '../common/command.ts'
import { addExamples } from '../common/examples.ts'
import type { Column } from '../common/output.ts'
import { addSessionOptions, type SessionOptions, withSession } from '../profile/session.ts'

interface BalanceOptions extends SessionOptions {
  readonly asOf?: string
}

const COLUMNS: readonly Column[] = [
  { name: 'token_id' },
  { name: 'balance', right: true },
  { name: 'available', right: true },
  { name: 'incoming', right: true },
]

export const balanceCommand: CommandSetup = (command, io) => {
  addSessionOptions(
    command
      .description(
        `Prints the balances of an account. "available" is the part that can be spent; "incoming" is value on its
way to the account.`,
      )
      .argument('<account>', 'account')
      .argument('[token]', 'only this token; BASE is the base unit')
      .option('--as-of <time>', 'the balances at this time (RFC 3339), such as 2030-01-31T00:00:00Z'),
  ).action((account: string, token: string | undefined, options: BalanceOptions) =>
    withSession(options, io, async ({ client, output }) => {
      const path = { accountId: account }
      const query = options.asOf === undefined ? {} : { as_of: options.asOf }
      const balances: readonly Omit<Balance, 'account_id'>[] =
        token === undefined
          ? await collected(client.list('listBalances', { path, query }))
          : [await client.call('getBalance', { path: { ...path, tokenId: token }, query })]
      output.table(balances, COLUMNS, `${account} has no balances`)
    }),
  )
  addExamples(command, ['ledger balance alice', 'ledger balance alice GOLD --json'])
}
