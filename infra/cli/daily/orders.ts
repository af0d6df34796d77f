/** The commands that move value of one account: `credit`, `debit`, `mint`, `burn` and `transfer`. */
import type { Order } from '../../../api/client/index.ts'
import type { CommandSetup } from '../common/command.ts'
import { addExamples } from '../common/examples.ts'
import { addOrderOptions, type OrderOptions } from './order-options.ts'
import { submitOrder } from './submit-order.ts'

type OneSided = 'credit' | 'debit' | 'mint' | 'burn'

const TEXTS: Readonly<Record<OneSided, { readonly description: string; readonly example: string }>> = {
  credit: {
    description: `Brings value in from outside the ledger. The client needs the grant for it (ledger client add
--boundary), which the clients of npm start have.`,
    example: 'ledger credit alice 100.50',
  },
  debit: { description: 'Takes value out of the ledger.', example: 'ledger debit alice 20' },
  mint: {
    description: 'Issues more of a token, on the account of its issuer.',
    example: 'ledger mint alice 500 GOLD',
  },
  burn: {
    description: 'Destroys value of a token that the account has.',
    example: 'ledger burn alice 500 GOLD',
  },
}

const WAITS = `Prints the final transaction, with the balance after it. Exit code 1: it failed. 3: its outcome is
unknown or still pending; run the command again with the printed idempotency key.`

export const creditCommand = oneSided('credit', '[token]')
export const debitCommand = oneSided('debit', '[token]')
export const mintCommand = oneSided('mint', '<token>')
export const burnCommand = oneSided('burn', '<token>')

function oneSided(type: OneSided, token: '[token]' | '<token>'): CommandSetup {
  return (command, io) => {
    const { description, example } = TEXTS[type]
    addOrderOptions(
      command
        .description(`${description}\n${WAITS}`)
        .argument('<account>', 'account, whose key signs')
        .argument('<amount>', 'decimal, such as 100.50')
        .argument(token, token === '[token]' ? 'token (default: the base unit BASE)' : 'token'),
    ).action((account: string, amount: string, tokenId: string | undefined, options: OrderOptions) =>
      submitOrder({ account_id: account, type, amount, ...assetOf(tokenId) } as Order, options, io),
    )
    addExamples(command, [example, `${example} --idempotency-key order-7 --json`])
  }
}

interface TransferOptions extends OrderOptions {
  readonly refunds?: string
}

export const transferCommand: CommandSetup = (command, io) => {
  addOrderOptions(
    command
      .description(`Sends value to another account, and waits until the receiver's side has decided.\n${WAITS}`)
      .argument('<from>', 'account that sends, whose key signs')
      .argument('<to>', 'account that receives')
      .argument('<amount>', 'decimal, such as 25 or 0.5')
      .argument('[token]', 'token (default: the base unit BASE)')
      .option('--refunds <txn-id>', 'return value of this transfer, which the account received'),
  ).action(
    (
      from: string,
      to: string,
      amount: string,
      tokenId: string | undefined,
      { refunds, ...options }: TransferOptions,
    ) => {
      const order = { account_id: from, type: 'transfer', to_account_id: to, amount, ...assetOf(tokenId) }
      return submitOrder({ ...order, ...(refunds === undefined ? {} : { refunds }) } as Order, options, io)
    },
  )
  addExamples(command, [
    'ledger transfer alice bob 25 GOLD',
    'ledger transfer alice bob 25 GOLD --metadata invoice=2030-17',
    'ledger transfer bob alice 5 GOLD --refunds txn_01M8GJ6PMX00000HDX6TDQ7NRE',
  ])
}

function assetOf(tokenId: string | undefined): { readonly token_id?: string } {
  return tokenId === undefined ? {} : { token_id: tokenId }
}
