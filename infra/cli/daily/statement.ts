import { type Statement, verifyStatement } from '../../../api/client/index.ts'
import { type CommandIo, type CommandSetup, ReportedFailure } from '../common/command.ts'
import { addExamples } from '../common/examples.ts'
import type { Column } from '../common/output.ts'
import { addSessionOptions, type Session, type SessionOptions, withSession } from '../profile/session.ts'

interface StatementOptions extends SessionOptions {
  readonly from?: string
  readonly to?: string
}

const COLUMNS: readonly Column[] = [
  { name: 'timestamp' },
  { name: 'type' },
  { name: 'amount', right: true },
  { name: 'balance_after', right: true },
  { name: 'txn_id' },
]

export const statementCommand: CommandSetup = (command, io) => {
  addSessionOptions(
    command
      .description(
        `Prints the movements of one balance between its opening and its closing, and verifies them here: the
signature of each page, the sums, and that no page is missing. Exit code 1 if that fails.

With --json it prints the signed pages, one a line: save them, and ledger verify checks them later.`,
      )
      .argument('<account>', 'account')
      .argument('[token]', 'token', 'BASE')
      .option('--from <time>', 'first moment (RFC 3339); by default the beginning')
      .option('--to <time>', 'end, exclusive (RFC 3339); by default now'),
  ).action((account: string, token: string, { from, to, ...options }: StatementOptions) =>
    withSession(options, io, async (session) => {
      const { client } = session
      const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
      const pages = await client.statement(account, { token_id: token, ...range })
      await printStatement(pages, session, io)
    }),
  )
  addExamples(command, [
    'ledger statement alice GOLD --from 2030-01-01T00:00:00Z --to 2030-02-01T00:00:00Z',
    'ledger statement alice GOLD --json > january.ndjson',
  ])
}

async function printStatement(pages: readonly Statement[], { client, output }: Session, io: CommandIo): Promise<void> {
  if (output.isJson) output.table(pages, [], '')
  else {
    const [first, last] = [pages[0], pages.at(-1)]
    output.line(`opening ${first?.opening ?? ''}`)
    output.table(
      pages.flatMap(({ movements }) => movements),
      COLUMNS,
      'there were no movements',
    )
    output.line(`closing ${last?.closing ?? ''}`)
  }
  const verdict = await verifyStatement(pages, await client.keySet())
  if (!verdict.ok) {
    io.err(`NOT VERIFIED: ${verdict.problem}\n`)
    throw new ReportedFailure('the statement does not verify')
  }
  output.line(`verified: signed by ledger ${pages[0]?.ledger_id ?? ''}, and the movements add up`)
}
