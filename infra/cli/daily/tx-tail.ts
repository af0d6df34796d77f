/** `ledger tx tail`: transactions as they become final, until Ctrl-C or until the reader of the output ends. */
import type { Event, Transaction } from '../../../api/client/index.ts'
import { CommandFailed, type CommandIo, type CommandSetup, integerBetween } from '../common/command.ts'
import { addExamples } from '../common/examples.ts'
import { shownJson, shownText } from '../common/shown-text.ts'
import { addSessionOptions, type SessionOptions, withSession } from '../profile/session.ts'
import { assetText } from './asset.ts'

const MAX_LIMIT = 1_000_000
const BEGIN = 'begin'
const LATEST = 'latest'

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

async function tail(
  { after, account, limit = Number.POSITIVE_INFINITY, ...options }: TailOptions,
  io: CommandIo,
): Promise<void> {
  await withSession(options, io, async ({ client, output }) => {
    const stop = io.stopSignal()
    let [cursor, printed] = [after, 0]
    const filter = {
      types: ['ledger.transaction.*'],
      ...(after === BEGIN ? {} : { after }),
      ...(account === undefined ? {} : { account_id: account }),
    }
    try {
      for await (const { cursor: next, event } of client.events({ ...filter, signal: stop })) {
        const { data } = event
        io.out(output.isJson ? `${shownJson(data['transaction'] ?? data)}\n` : lineOf(event))
        cursor = next
        printed += 1
        if (printed >= limit) break
      }
    } catch (error) {
      if (!stop.aborted) throw error
    }
    // Without its output the cursor may be behind transactions that were not written.
    if (isOutputFailure(stop.reason)) return refuseFailedOutput(stop.reason)
    if (cursor !== LATEST && cursor !== BEGIN) output.note(`to continue: --after ${cursor}`)
  })
}

function isOutputFailure(reason: unknown): reason is Error {
  return reason instanceof Error && reason.name !== 'AbortError'
}

/** The reader of a pipe may end first. */
function refuseFailedOutput(reason: Error): void {
  if ('code' in reason && reason.code === 'EPIPE') return
  throw new CommandFailed(`standard output cannot be written: ${reason.message}`, { cause: reason })
}

function lineOf({ time = '', subject, data }: Event): string {
  const transaction = data['transaction'] as Transaction | undefined
  if (transaction === undefined) return `${time}  ${shownText(subject)}  erased\n`
  const { txn_id, status, type, account_id, amount, failure } = transaction
  const why = failure === undefined ? [] : [failure.code]
  return `${shownText([time, txn_id, status, type, account_id, amount, assetText(transaction), ...why].join('  '))}\n`
}
