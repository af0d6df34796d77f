/**
 * `ledger events tail`: prints the events of the log.
 *   T1. After a lost connection it continues behind the last event that it printed: it omits and repeats none.
 *   T2. An error before the first response ends the command, because the address may be wrong. A refusal always ends it.
 */
import type { Command } from 'commander'
import { isLedgerError, LedgerClient } from '../../../api/client/index.ts'
import { CommandFailed, type CommandIo, type CommandSetup } from '../common/command.ts'
import { BEGIN, LATEST, printEvents } from '../common/followed-events.ts'
import { failureText } from '../common/problem-text.ts'
import { shownJson, shownText } from '../common/shown-text.ts'
import { addClientOptions, type ClientOptions, ledgerAccess, refuseOthers } from '../profile/client-options.ts'

interface TailOptions extends ClientOptions {
  readonly after: string
  readonly types?: string
  readonly account?: string
}

export const tailCommand: CommandSetup = (command: Command, io) => {
  addClientOptions(
    command.description(
      `Prints each event as one line of JSON (a CloudEvent), until Ctrl-C or until the reader of the output
ends. After Ctrl-C it prints the cursor behind the last event to standard error. A lost connection is
opened again, and no event is omitted or repeated.`,
    ),
    'client ID; a scoped client gets the events of its accounts',
  )
    .option('--after <cursor>', `${BEGIN}, ${LATEST}, or the cursor of an earlier run`, LATEST)
    .option('--types <type,...>', 'only these types, such as ledger.transaction.*')
    .option('--account <id>', 'only events that concern this account')
    .action((options: TailOptions) => tail(options, io))
}

async function tail({ after, types, account, ...options }: TailOptions, io: CommandIo): Promise<void> {
  const access = await ledgerAccess(options, io)
  await refuseOthers(access)
  let isLossPrinted = false
  const onLost = (error: unknown): void => {
    const why = isLedgerError(error) && error.status > 0 ? failureText(error) : 'the connection was lost'
    if (!isLossPrinted) io.err(`${why}; connecting again (Ctrl-C ends it)\n`)
    isLossPrinted = true
  }
  const filter = {
    onLost,
    ...(types === undefined ? {} : { types: types.split(',') }),
    ...(account === undefined ? {} : { account_id: account }),
  }
  const print = (event: object): void => {
    isLossPrinted = false
    io.out(`${shownJson(event)}\n`)
  }
  try {
    const cursor = await printEvents(new LedgerClient(access), { after, filter, print }, io)
    if (cursor !== undefined) io.err(`to continue behind the last event: --after ${shownText(cursor)}\n`)
  } catch (error) {
    throw isLedgerError(error) ? new CommandFailed(failureText(error), { cause: error }) : error
  }
}
