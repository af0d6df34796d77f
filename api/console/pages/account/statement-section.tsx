import { useState } from 'preact/hooks'
import type { Movement, Statement } from '../../../client/index.ts'
import { DownloadButton } from '../../parts/download-button.tsx'
import { countText } from '../../parts/figures.ts'
import { Field } from '../../parts/field.tsx'
import { LoadedView } from '../../parts/loaded-view.tsx'
import { Section } from '../../parts/page.tsx'
import { StepChart } from '../../parts/step-chart.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Amount, Id, Time } from '../../parts/text.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { VerifyButton } from '../../parts/verify-button.tsx'
import { statementFinding } from '../../proofs/statement-finding.ts'
import { hrefOf } from '../../session/place.ts'
import { useSession } from '../../session/session.ts'
import { statementEnd } from './statement-end.ts'
import { periodQuery, type StatementPeriod } from './statement-period.ts'

const MOST_PAGES = 20
const SHOWN_MOVEMENTS = 200

const COLUMNS: readonly Column<Movement>[] = [
  { title: 'Time', cell: ({ timestamp }) => <Time value={timestamp} /> },
  { title: 'Entry', isNumber: true, cell: ({ sequence }) => sequence },
  {
    title: 'Transaction',
    cell: ({ txn_id: id }) => (id === null ? 'import' : <Id value={id} href={hrefOf(['transactions', id])} />),
  },
  { title: 'Type', cell: ({ type }) => type },
  { title: 'Amount', isNumber: true, cell: ({ amount }) => <Amount value={amount} /> },
  { title: 'Balance after', isNumber: true, cell: ({ balance_after: balance }) => <Amount value={balance} /> },
]

interface LoadedStatement {
  readonly pages: readonly Statement[]
  /** The one that was asked for. */
  readonly period: StatementPeriod
}

/** The movements of one balance: as a chart, as a table, and as a file. */
export function StatementSection({ accountId }: { readonly accountId: string }) {
  const { client } = useSession()
  const { loaded } = useLoad(
    (signal) => client.call('listBalances', { path: { accountId }, query: { page_size: 100 }, signal }),
    [client, accountId],
  )
  return (
    <LoadedView of={loaded} name="the tokens of the account">
      {({ balances }) => <TokenStatement accountId={accountId} tokens={balances.map(({ token_id: token }) => token)} />}
    </LoadedView>
  )
}

interface TokenStatementProps {
  readonly accountId: string
  /** Of the account. */
  readonly tokens: readonly string[]
}

function TokenStatement({ accountId, tokens }: TokenStatementProps) {
  const { client } = useSession()
  const [period, setPeriod] = useState<StatementPeriod>({ tokenId: tokens[0] ?? 'BASE', from: '', to: '' })
  const { loaded } = useLoad(
    async (signal): Promise<LoadedStatement> => {
      const pages: Statement[] = []
      const query = { ...periodQuery(period), page_size: 1_000 }
      for await (const page of client.pages('getStatement', { path: { accountId }, query, signal })) {
        pages.push(page)
        if (pages.length === MOST_PAGES) break
      }
      return { pages, period }
    },
    [client, accountId, period],
  )
  return (
    <Section title="Statement" intro="Every movement of one balance, signed by the ledger.">
      <PeriodForm period={period} tokens={tokens} onPeriod={setPeriod} />
      <LoadedView of={loaded} name="the statement">
        {(statement) => <StatementView accountId={accountId} statement={statement} />}
      </LoadedView>
    </Section>
  )
}

interface PeriodFormProps {
  readonly period: StatementPeriod
  readonly tokens: readonly string[]
  readonly onPeriod: (period: StatementPeriod) => void
}

function PeriodForm({ period, tokens, onPeriod }: PeriodFormProps) {
  const [draft, setDraft] = useState(period)
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault()
        onPeriod(draft)
      }}
    >
      <Field
        label="Token"
        value={draft.tokenId}
        onValue={(tokenId) => setDraft({ ...draft, tokenId })}
        choices={tokens}
      />
      <Field
        label="From (UTC)"
        type="datetime-local"
        value={draft.from}
        onValue={(from) => setDraft({ ...draft, from })}
        isOptional
      />
      <Field
        label="Before (UTC)"
        type="datetime-local"
        value={draft.to}
        onValue={(to) => setDraft({ ...draft, to })}
        isOptional
      />
      <button type="submit">Show</button>
    </form>
  )
}

function StatementView({ accountId, statement }: { readonly accountId: string; readonly statement: LoadedStatement }) {
  const { client, keySet } = useSession()
  const { pages, period } = statement
  const movements = pages.flatMap((page) => page.movements)
  const [first] = pages
  const end = statementEnd(pages)
  if (first === undefined || end === undefined) return null
  const token = first.token_id
  const query = periodQuery(period)
  return (
    <>
      <StepChart
        points={pointsOf(first, movements)}
        endMs={Date.parse(end.time)}
        label={`Balance of ${token} over time, from ${first.opening} to ${end.closing}`}
      />
      {!end.isWhole && (
        <p class="notice warn">
          This is only the beginning: the first {countText(movements.length, 'movement')}, until{' '}
          <Time value={end.time} />. Later movements are not loaded, and the balance is another by now. To see them,
          show the statement from this time on. The CSV file has all movements.
        </p>
      )}
      <div class="table-foot">
        <p>
          From <Amount value={first.opening} unit={token} /> to <Amount value={end.closing} unit={token} />
          {end.isWhole ? (
            ''
          ) : (
            <>
              {' '}
              at <Time value={end.time} />
            </>
          )}
          , in {countText(movements.length, 'movement')}.
        </p>
        <DownloadButton
          label="Download as CSV"
          fileName={`${accountId}-${token}.csv`}
          type="text/csv"
          read={(signal) => client.statementCsv(accountId, query, { signal })}
        />
      </div>
      <VerifyButton
        label="Verify the statement"
        subject={statement}
        verify={() =>
          statementFinding(pages, keySet, end.isWhole, {
            accountId,
            tokenId: period.tokenId,
            from: query.from ?? '',
            to: query.to ?? '',
          })
        }
      />
      <Table
        caption={`Movements of ${token} of ${accountId}`}
        columns={COLUMNS}
        rows={movements.slice(-SHOWN_MOVEMENTS).toReversed()}
        keyOf={({ sequence }) => String(sequence)}
        empty="The balance did not move in this time."
      />
      {movements.length > SHOWN_MOVEMENTS && (
        <p class="quiet">
          The table has the last {SHOWN_MOVEMENTS} of these movements, the CSV file has all of the period.
        </p>
      )}
    </>
  )
}

function pointsOf({ from, opening }: Statement, movements: readonly Movement[]) {
  const moved = movements.map((movement) => ({
    atMs: Date.parse(movement.timestamp),
    value: Number(movement.balance_after),
  }))
  return from === null ? moved : [{ atMs: Date.parse(from), value: Number(opening) }, ...moved]
}
