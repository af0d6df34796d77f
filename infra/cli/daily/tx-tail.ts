/** `ledger tx tail`: transactions as they become final, until Ctrl-C or until the reader of the output ends. */
import type { Event, Transaction } from '../../../api/client/index.ts'
import { CommandFailed, type CommandIo, type CommandSetup } from '../common/command.ts'
import { addExamples } from '../common/examples.ts'
import { shownJson, shownText } from '../common/shown-text.ts'
import { addSessionOptions, type SessionOptions, withSession } from '../profile/session.ts'

interface TailOptions extends SessionOptions {
  readonly after: string
  readonly account?: string
}

export const tailCommand: CommandSetup = (command, io) => {
  addSessionOptions(
    command
      .description(
        `Prints each transaction when it becomes final, until Ctrl-C. A lost connection is opened again, and none is
omitted or repeated. Afterwards it prints the cursor from which --after continues.`,
      )
      .option('--account <id>', 'only transactions of this account')
      .option('--after <cursor>', 'begin, latest, or the cursor of an earlier run', 'latest'),
  ).action((options: TailOptions) => tail(options, io))
  addExamples(command, ['ledger tx tail', 'ledger tx tail --account alice --after begin --json'])
}

async function tail({ after, account, ...options }: TailOptions, io: CommandIo): Promise<void> {
  await withSession(options, io, async ({ client, output }) => {
    const stop = io.stopSignal()
    let cursor = after
    const filter = { after, types: ['ledger.transaction.*'], ...(account === undefined ? {} : { account_id: account }) }
    try {
      for await (const { cursor: next, event } of client.events({ ...filter, signal: stop })) {
        const { data } = event
        io.out(output.isJson ? `${shownJson(data['transaction'] ?? data)}\n` : lineOf(event))
        cursor = next
      }
    } catch (error) {
      if (!stop.aborted) throw error
    }
    refuseFailedOutput(stop.reason)
    if (cursor !== 'latest' && cursor !== 'begin') output.note(`to continue: --after ${cursor}`)
  })
}

/** The reader of a pipe may end first. */
function refuseFailedOutput(reason: unknown): void {
  if (!(reason instanceof Error) || reason.name === 'AbortError') return
  if ('code' in reason && reason.code === 'EPIPE') return
  throw new CommandFailed(`standard output cannot be written: ${reason.message}`, { cause: reason })
}

function lineOf({ time = '', subject, data }: Event): string {
  const transaction = data['transaction'] as Transaction | undefined
  if (transaction === undefined) return `${time}  ${shownText(subject)}  erased\n`
  const { txn_id, status, type, account_id, amount, token_id, class_id, instance_id, failure } = transaction
  const asset = token_id ?? `${class_id ?? ''}/${instance_id ?? ''}`
  const why = failure === undefined ? [] : [failure.code]
  return `${shownText([time, txn_id, status, type, account_id, amount, asset, ...why].join('  '))}\n`
}
