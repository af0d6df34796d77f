import { eventTypeText, transactionIn } from '../../parts/event-transaction.ts'
import { Section } from '../../parts/page.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Amount, Id, Text, Time } from '../../parts/text.tsx'
import type { ArrivedEvent, FeedState } from '../../session/event-feed.ts'
import { hrefOf } from '../../session/place.ts'

const COLUMNS: readonly Column<ArrivedEvent>[] = [
  { title: 'Time', cell: ({ event }) => <Time value={event.time} /> },
  { title: 'Event', cell: ({ event }) => eventTypeText(event.type) },
  { title: 'Subject', cell: ({ event }) => <Subject arrived={event} /> },
  { title: 'Amount', isNumber: true, cell: ({ event }) => <EventAmount arrived={event} /> },
]

export function EventList({ events, state }: { readonly events: readonly ArrivedEvent[]; readonly state: FeedState }) {
  return (
    <Section title="Latest events">
      {state === 'failed' && (
        <p class="notice warn">The stream of events ended. Reload this page of the console to follow it again.</p>
      )}
      <Table
        caption="Latest events"
        columns={COLUMNS}
        rows={events}
        keyOf={({ event }) => event.id}
        empty="No event since this page opened. New ones appear here by themselves."
      />
    </Section>
  )
}

function Subject({ arrived }: { readonly arrived: ArrivedEvent['event'] }) {
  const { type, subject, data } = arrived
  const transaction = transactionIn(arrived)
  if (transaction !== undefined) {
    return (
      <>
        <Id value={transaction.txn_id} href={hrefOf(['transactions', transaction.txn_id])} />
        <div class="quiet">
          <Text value={transaction.account_id} limit={60} />
        </div>
      </>
    )
  }
  if (data['erased'] === true) return <Text value={subject} limit={60} />
  if (/^ledger\.(account|hold)\./.test(type)) return <Id value={subject} href={hrefOf(['accounts', subject])} />
  if (type.startsWith('ledger.group.')) return <Id value={subject} href={hrefOf(['groups', subject])} />
  if (type.startsWith('ledger.nft.')) return <Id value={subject} href={hrefOf(['nfts', ...subject.split('/')])} />
  return <Text value={subject} limit={60} />
}

function EventAmount({ arrived }: { readonly arrived: ArrivedEvent['event'] }) {
  const transaction = transactionIn(arrived)
  if (transaction === undefined) return <span class="quiet">–</span>
  return <Amount value={transaction.amount} unit={transaction.token_id ?? 'NFT'} />
}
