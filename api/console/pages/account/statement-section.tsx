import { useState } from 'preact/hooks'
import type { Movement, Statement } from '../../../client/index.ts'
import { download } from '../../parts/download.ts'
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
import { statementCsv } from './statement-csv.ts'

const MOST_PAGES = 5
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

interface Period {
  readonly tokenId: string
  /** Days in UTC; empty: from the beginning, until now. */
  readonly from: string
  readonly to: string
}

interface LoadedStatement {
  readonly pages: readonly Statement[]
  readonly isWhole: boolean
  /** The one that was asked for. */
  readonly period: Period
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
  const [period, setPeriod] = useState<Period>({ tokenId: tokens[0] ?? 'BASE', from: '', to: '' })
  const { loaded } = useLoad(
    async (signal): Promise<LoadedStatement> => {
      const pages: Statement[] = []
      for await (const page of client.pages('getStatement', { path: { accountId }, query: queryOf(period), signal })) {
        pages.push(page)
        if (pages.length === MOST_PAGES) break
      }
      return { pages, isWhole: pages.at(-1)?.last_page === true, period }
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

function queryOf({ tokenId, from, to }: Period) {
  return {
    token_id: tokenId,
    page_size: 1_000,
    ...(from === '' ? {} : { from: `${from}T00:00:00Z` }),
    ...(to === '' ? {} : { to: `${to}T00:00:00Z` }),
  }
}

interface PeriodFormProps {
  readonly period: Period
  readonly tokens: readonly string[]
  readonly onPeriod: (period: Period) => void
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
        label="From day"
        type="date"
        value={draft.from}
        onValue={(from) => setDraft({ ...draft, from })}
        isOptional
      />
      <Field label="Before day" type="date" value={draft.to} onValue={(to) => setDraft({ ...draft, to })} isOptional />
      <button type="submit">Show</button>
    </form>
  )
}

function StatementView({ accountId, statement }: { readonly accountId: string; readonly statement: LoadedStatement }) {
  const { keySet } = useSession()
  const { pages, isWhole, period } = statement
  const movements = pages.flatMap((page) => page.movements)
  const [first] = pages
  const last = pages.at(-1)
  if (first === undefined || last === undefined) return null
  const token = first.token_id
  return (
    <>
      <StepChart points={pointsOf(first, movements)} endMs={Date.parse(last.to)} label={chartLabel(statement, token)} />
      <div class="table-foot">
        <p>
          From <Amount value={first.opening} unit={token} /> to <Amount value={last.closing} unit={token} />, in{' '}
          {countText(movements.length, 'movement')}
          {isWhole ? '' : ' and more: choose a shorter time'}.
        </p>
        <button
          type="button"
          onClick={() => download(`${accountId}-${token}.csv`, 'text/csv', statementCsv(movements))}
        >
          Download as CSV
        </button>
      </div>
      <VerifyButton
        label="Verify the statement"
        subject={statement}
        verify={() => statementFinding(pages, keySet, isWhole, { accountId, ...period })}
      />
      <Table
        caption={`Movements of ${token} of ${accountId}`}
        columns={COLUMNS}
        rows={movements.slice(-SHOWN_MOVEMENTS).toReversed()}
        keyOf={({ sequence }) => String(sequence)}
        empty="The balance did not move in this time."
      />
      {movements.length > SHOWN_MOVEMENTS && (
        <p class="quiet">The table has the last {SHOWN_MOVEMENTS} movements, the file has all that are loaded.</p>
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

function chartLabel({ pages }: LoadedStatement, token: string): string {
  return `Balance of ${token} over time, from ${pages[0]?.opening ?? '0'} to ${pages.at(-1)?.closing ?? '0'}`
}
