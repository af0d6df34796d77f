/** `ledger tx tail`: transactions as they become final, until Ctrl-C or until the reader of the output ends. */
import type { Event, Transaction } from '../../../api/client/index.ts'
import { type CommandIo, type CommandSetup, integerBetween } from '../common/command.ts'
import { addExamples } from '../common/examples.ts'
import { BEGIN, LATEST, printEvents } from '../common/followed-events.ts'
import { shownJson, shownText } from '../common/shown-text.ts'
import { addSessionOptions, type SessionOptions, withSession } from '../profile/session.ts'
import { assetText } from './asset.ts'

const MAX_LIMIT = 1_000_000

interface TailOptions extends SessionOptions {
  readonly after: string
  readonly account?: string
  readonly limit?: number
}

export const tailCommand: CommandSetup = (command, io) => {
  addSessionOptions(
    command
      .description(
        `Prints each transaction when it becomes final, until Ctrl-C. A lost connection is opened again, and none is
omitted or repeated. Afterwards it prints the cursor from which --after continues.`,
      )
      .option('--account <id>', 'only transactions of this account')
      .option('--after <cursor>', `${BEGIN}, ${LATEST}, or the cursor of an earlier run`, LATEST)
      .option('--limit <n>', 'end after this number of transactions', integerBetween(1, MAX_LIMIT)),
  ).action((options: TailOptions) => tail(options, io))
  addExamples(command, ['ledger tx tail', 'ledger tx tail --account alice --after begin --limit 10 --json'])
}

async function tail({ after, account, limit, ...options }: TailOptions, io: CommandIo): Promise<void> {
  await withSession(options, io, async ({ client, output }) => {
    const filter = { types: ['ledger.transaction.*'], ...(account === undefined ? {} : { account_id: account }) }
    const print = (event: Event): void =>
      io.out(output.isJson ? `${shownJson(event.data['transaction'] ?? event.data)}\n` : lineOf(event))
    const request = { after, filter, print, ...(limit === undefined ? {} : { limit }) }
    const cursor = await printEvents(client, request, io)
    if (cursor !== undefined) output.note(`to continue: --after ${cursor}`)
  })
}

function lineOf({ time = '', subject, data }: Event): string {
  const transaction = data['transaction'] as Transaction | undefined
  if (transaction === undefined) return `${time}  ${shownText(subject)}  erased\n`
  const { txn_id, status, type, account_id, amount, failure } = transaction
  const why = failure === undefined ? [] : [failure.code]
  return `${shownText([time, txn_id, status, type, account_id, amount, assetText(transaction), ...why].join('  '))}\n`
}
