import { Option } from 'commander'
import type { RequestOf, Transaction } from '../../../api/client/index.ts'
import { type CommandIo, type CommandSetup, integerBetween } from '../common/command.ts'
import { addExamples } from '../common/examples.ts'
import type { Column } from '../common/output.ts'
import { shownJson } from '../common/shown-text.ts'
import { addSessionOptions, type SessionOptions, withSession } from '../profile/session.ts'
import { assetText } from './asset.ts'
import { addWaitOptions } from './order-options.ts'
import { printOutcome, printTransaction } from './submit-order.ts'
import { tailCommand } from './tx-tail.ts'

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 1_000_000
const MAX_PAGE = 1_000
const TYPES = ['credit', 'debit', 'transfer', 'exchange', 'mint', 'burn'] as const
const STATUSES = ['pending', 'completed', 'failed'] as const

const COLUMNS: readonly Column<Pick<Transaction, 'token_id' | 'class_id' | 'instance_id'>>[] = [
  { name: 'txn_id' },
  { name: 'created_at' },
  { name: 'status' },
  { name: 'type' },
  { name: 'account_id' },
  { name: 'amount', right: true },
  { name: 'asset', of: assetText },
]

interface ListOptions extends SessionOptions {
  readonly account?: string
  readonly status?: (typeof STATUSES)[number]
  readonly type?: (typeof TYPES)[number]
  readonly token?: string
  readonly from?: string
  readonly to?: string
  readonly idempotencyKey?: string
  readonly oldestFirst?: boolean
  /** Undefined: DEFAULT_LIMIT. */
  readonly limit?: number
}

export const txCommand: CommandSetup = (command, io) => {
  command.description('Shows transactions, follows new ones, and waits for outcomes.')
  const show = command.command('show').summary('show a transaction')
  addSessionOptions(
    show
      .description('Prints a transaction. With --receipt, its signed receipt as JSON, for ledger verify.')
      .argument('<txn-id>', 'transaction')
      .option('--receipt', 'print the signed receipt'),
  ).action((txnId: string, { receipt = false, ...options }: SessionOptions & { readonly receipt?: boolean }) =>
    withSession(options, io, async ({ client, output }) => {
      if (receipt) io.out(`${shownJson(await client.receipt(txnId))}\n`)
      else printTransaction(await client.call('getTransaction', { path: { txnId } }), output)
    }),
  )
  addExamples(show, ['ledger tx show txn_01M8GJ6PMX00000HDX6TDQ7NRE'])
  listCommand(command.command('list').summary('list transactions, the newest first'), io)
  tailCommand(command.command('tail').summary('print transactions as they become final'), io)
  const wait = command.command('wait').summary('wait for the outcome of a transaction')
  addWaitOptions(
    addSessionOptions(
      wait
        .description(
          `Waits until a transaction is final, and prints it. Exit code 1: it failed, or the ledger refuses to show
it. 3: it is still pending at the end of the wait, or the ledger does not respond.`,
        )
        .argument('<txn-id>', 'transaction'),
    ),
  ).action((txnId: string, { timeout, ...options }: SessionOptions & { readonly timeout: number }) =>
    withSession(options, io, async (session) => {
      const untilMs = performance.now() + timeout * 1_000
      await printOutcome(session, { txn_id: txnId }, { untilMs }, io)
    }),
  )
  addExamples(wait, ['ledger tx wait txn_01M8GJ6PMX00000HDX6TDQ7NRE --timeout 300'])
}

const listCommand: CommandSetup = (command, io) => {
  addSessionOptions(
    command
      .description('Lists transactions that match all given filters, the newest first.')
      .option('--account <id>', 'of this account')
      .addOption(new Option('--status <status>', 'with this status').choices(STATUSES))
      .addOption(new Option('--type <type>', 'of this type').choices(TYPES))
      .option('--token <id>', 'of this token; BASE is the base unit')
      .option('--from <time>', 'created at this time or later (RFC 3339)')
      .option('--to <time>', 'created before this time (RFC 3339)')
      .option('--idempotency-key <key>', 'with this key: finds what became of an order')
      .option('--oldest-first', 'in the order of creation')
      .option('--limit <n>', `number of transactions (default: ${DEFAULT_LIMIT})`, integerBetween(1, MAX_LIMIT)),
  ).action((options: ListOptions) => list(options, io))
  addExamples(command, [
    'ledger tx list --account alice',
    'ledger tx list --status failed --from 2030-01-01T00:00:00Z --limit 1000 --json',
  ])
}

async function list(options: ListOptions, io: CommandIo): Promise<void> {
  const { account, status, type, token, from, to, idempotencyKey, oldestFirst = false } = options
  const { limit = DEFAULT_LIMIT } = options
  const given = {
    account_id: account,
    status,
    type,
    token_id: token,
    date_from: from,
    date_to: to,
    idempotency_key: idempotencyKey,
    order: oldestFirst ? 'asc' : undefined,
    page_size: Math.min(limit, MAX_PAGE),
  }
  const defined = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const query = defined as NonNullable<RequestOf<'listTransactions'>['query']>
  await withSession(options, io, async ({ client, output }) => {
    const found: Transaction[] = []
    let place: string | undefined
    let mayBeMore = false
    for await (const { transactions, next_page_token: next } of client.pages('listTransactions', { query })) {
      found.push(...(transactions as readonly Transaction[]))
      // Oldest first is a feed without end. A client with a limited set of accounts also gets empty pages before its end.
      const isAtEnd = oldestFirst && transactions.length === 0 && next === place
      mayBeMore = found.length > limit || (found.length === limit && next !== '')
      if (mayBeMore || isAtEnd) break
      place = next
    }
    output.table(found.slice(0, limit), COLUMNS, 'there are no such transactions')
    if (mayBeMore && options.limit === undefined) {
      output.note(`only ${limit} transactions are listed, and there may be more: choose a larger --limit`)
    }
  })
}
