import { type Statement, type StatementExpectation, verifyStatement } from '../../../api/client/index.ts'
import { type CommandIo, type CommandSetup, ReportedFailure } from '../common/command.ts'
import { addExamples } from '../common/examples.ts'
import type { Column } from '../common/output.ts'
import { shownText } from '../common/shown-text.ts'
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

/** For the difference of the clocks, and for the time of the requests. */
const SLACK_MS = 300_000

export const statementCommand: CommandSetup = (command, io) => {
  addSessionOptions(
    command
      .description(
        `Prints the movements of one balance between its opening and its closing, and verifies them here: the
signature of each page, the sums, that no page is missing, and that it is the requested statement. Without
--to it must end now by the clock here, to within ${SLACK_MS / 60_000} minutes: an older statement may hide later movements.
Exit code 1 if that fails.

With --json it prints the signed pages, one a line: save them, and ledger verify checks them later.`,
      )
      .argument('<account>', 'account')
      .argument('[token]', 'token', 'BASE')
      .option('--from <time>', 'first moment (RFC 3339); by default the beginning')
      .option('--to <time>', 'end, exclusive (RFC 3339); by default now'),
  ).action((account: string, token: string, { from, to, ...options }: StatementOptions) =>
    withSession(options, io, async (session) => {
      const { client, profile } = session
      const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
      const askedMs = Date.now()
      const pages = await client.statement(account, { token_id: token, ...range })
      const expected = { account_id: account, token_id: token, from: null, ...range, ledger_id: profile.ledgerId }
      await printStatement(pages, { ...expected, askedMs: to === undefined ? askedMs : undefined }, session, io)
    }),
  )
  addExamples(command, [
    'ledger statement alice GOLD --from 2030-01-01T00:00:00Z --to 2030-02-01T00:00:00Z',
    'ledger statement alice GOLD --json > january.ndjson',
  ])
}

type ExpectedStatement = StatementExpectation['expected'] & {
  /** When a statement up to now was requested; undefined: the end was named. */
  readonly askedMs: number | undefined
}

/** Why it may be older than the request; undefined: it ends when it was requested, and was signed then or later. */
function problemOfEnd(pages: readonly Statement[], askedMs: number): string | undefined {
  for (const { to, generated_at: generatedAt } of pages) {
    const isNow = Math.abs(Date.parse(to) - askedMs) <= SLACK_MS
    if (isNow && Date.parse(generatedAt) >= askedMs - SLACK_MS) continue
    const [name, time] = isNow ? ['generated_at', generatedAt] : ['to', to]
    return `its ${name} is ${time}, but the time here is ${new Date(askedMs).toISOString()}: set the clock, or give --to`
  }
  return undefined
}

async function printStatement(
  pages: readonly Statement[],
  { askedMs, ...expected }: ExpectedStatement,
  { client, output }: Session,
  io: CommandIo,
): Promise<void> {
  if (output.isJson) output.table(pages, [], '')
  else {
    const [first, last] = [pages[0], pages.at(-1)]
    const { account_id, token_id, from, to, opening } = first ?? {}
    output.line(`statement of ${account_id}, ${token_id}, from ${from ?? 'the beginning'} to ${to}`)
    output.line(`opening ${opening ?? ''}`)
    output.table(
      pages.flatMap(({ movements }) => movements),
      COLUMNS,
      'there were no movements',
    )
    output.line(`closing ${last?.closing ?? ''}`)
  }
  const verdict = await verifyStatement(pages, await client.keySet(), { expected })
  const other = verdict.ok && askedMs !== undefined ? problemOfEnd(pages, askedMs) : undefined
  if (!verdict.ok || other !== undefined) {
    const isOther = verdict.ok || verdict.reason === 'unexpected'
    const what = isOther ? 'UNEXPECTED: this is not the requested statement' : 'NOT VERIFIED'
    io.err(`${what}: ${shownText(verdict.ok ? (other ?? '') : verdict.problem)}\n`)
    throw new ReportedFailure('the statement does not verify')
  }
  output.line(`verified: signed by ledger ${pages[0]?.ledger_id ?? ''}, and the movements add up`)
}
