import { useState } from 'preact/hooks'
import type { TransactionSummary } from '../../../client/index.ts'
import { Choice, Field } from '../../parts/field.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { PagedTable, Table } from '../../parts/table.tsx'
import { transactionIn } from '../../parts/event-transaction.ts'
import { useFeed } from '../../parts/use-feed.ts'
import { useList } from '../../parts/use-pages.ts'
import { hrefOf, type Place } from '../../session/place.ts'
import { goTo } from '../../session/use-place.ts'
import { type Filter, filterIn, type FilterName, fitsFilter, queryOf } from './filter.ts'
import { TRANSACTION_COLUMNS } from './transaction-columns.tsx'

const LIVE_ROWS = 100
const TYPES = ['credit', 'debit', 'transfer', 'exchange', 'mint', 'burn'] as const
const STATUSES = ['pending', 'completed', 'failed'] as const

/** The list, filtered by the query of the place; and live. */
export function TransactionsPage({ query }: { readonly query: Place['query'] }) {
  const filter = filterIn(query)
  const [isLive, setLive] = useState(false)
  return (
    <Page
      title="Transactions"
      intro="Newest first. Times are in UTC."
      actions={
        <button type="button" aria-pressed={isLive} class={isLive ? 'primary' : ''} onClick={() => setLive(!isLive)}>
          {isLive ? 'Stop following' : 'Follow live'}
        </button>
      }
    >
      <Section title="Filters">
        <FilterForm key={query.toString()} filter={filter} />
      </Section>
      {isLive && <LiveTransactions filter={filter} />}
      <Section title="Transactions">
        <TransactionList filter={filter} />
      </Section>
    </Page>
  )
}

function FilterForm({ filter }: { readonly filter: Filter }) {
  const [draft, setDraft] = useState(filter)
  const field = (name: FilterName, label: string, more: { readonly isDecimal?: true; readonly type?: 'date' } = {}) => (
    <Field
      label={label}
      value={draft[name]}
      onValue={(value) => setDraft({ ...draft, [name]: value })}
      isOptional
      {...more}
    />
  )
  const choice = (name: FilterName, label: string, values: readonly string[]) => (
    <Choice
      label={label}
      value={draft[name]}
      onValue={(value) => setDraft({ ...draft, [name]: value })}
      choices={[['', 'any'], ...values.map((value): readonly [string, string] => [value, value])]}
    />
  )
  return (
    <form
      class="grid"
      onSubmit={(event) => {
        event.preventDefault()
        goTo(hrefOf(['transactions'], draft))
      }}
    >
      {field('account_id', 'Account')}
      {choice('type', 'Type', TYPES)}
      {choice('status', 'Status', STATUSES)}
      {field('token_id', 'Token')}
      {field('amount_min', 'Amount from', { isDecimal: true })}
      {field('amount_max', 'Amount to', { isDecimal: true })}
      {field('date_from', 'From day', { type: 'date' })}
      {field('date_to', 'To day', { type: 'date' })}
      {field('group_id', 'Group ID')}
      <div class="actions">
        <button type="submit">Apply</button>
        <a href={hrefOf(['transactions'])}>Clear</a>
      </div>
    </form>
  )
}

function LiveTransactions({ filter }: { readonly filter: Filter }) {
  const [rows, setRows] = useState<readonly TransactionSummary[]>([])
  const state = useFeed(true, (events) => {
    const arrived = events
      .map(({ event }) => transactionIn(event))
      .filter((transaction) => transaction !== undefined && fitsFilter(transaction, filter))
    setRows((before) => [...(arrived.toReversed() as TransactionSummary[]), ...before].slice(0, LIVE_ROWS))
  })
  return (
    <Section
      title="Live"
      intro="Transactions appear as they become final, the last 100 of them. Filters of amounts and days do not apply here."
    >
      {state === 'failed' && <p class="notice warn">The stream of events ended. Stop following, and follow again.</p>}
      <Table
        caption="Live transactions"
        columns={TRANSACTION_COLUMNS}
        rows={rows}
        keyOf={({ txn_id: id, status }) => `${id} ${status}`}
        empty="Waiting for the next transaction …"
      />
    </Section>
  )
}

/** Also of one account, on its page. */
export function TransactionList({ filter }: { readonly filter: Filter }) {
  const query = queryOf(filter)
  const paged = useList('listTransactions', { query }, 25)
  return (
    <PagedTable
      name="the transactions"
      caption="Transactions"
      paged={paged}
      columns={TRANSACTION_COLUMNS}
      keyOf={({ txn_id: id }) => id}
      empty={
        Object.keys(query).length === 0 ? (
          <>
            There are no transactions yet. <a href={hrefOf(['holder'])}>Make a first transfer</a>.
          </>
        ) : (
          'No transaction matches.'
        )
      }
    />
  )
}
