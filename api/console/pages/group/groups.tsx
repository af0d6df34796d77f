import { useState } from 'preact/hooks'
import type { Event } from '../../../client/index.ts'
import { eventTypeText } from '../../parts/event-transaction.ts'
import { Field } from '../../parts/field.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { type Column, PagedTable } from '../../parts/table.tsx'
import { Id, Status, Time } from '../../parts/text.tsx'
import { useFeed } from '../../parts/use-feed.ts'
import { usePages } from '../../parts/use-pages.ts'
import { hrefOf } from '../../session/place.ts'
import { useSession } from '../../session/session.ts'
import { goTo } from '../../session/use-place.ts'
import { MOST_ARRIVED, readLog, withArrived, withNewest } from './ended-groups.ts'

const PAGE_SIZE = 100

const COLUMNS: readonly Column<Event>[] = [
  { title: 'Time', cell: ({ time }) => <Time value={time} /> },
  { title: 'Group', cell: ({ subject }) => <Id value={subject} href={hrefOf(['groups', subject])} /> },
  { title: 'Outcome', cell: ({ type }) => <Status value={eventTypeText(type).replace('group ', '')} /> },
]

/** The interface has no list of groups; the event log has those that ended, oldest first. */
export function GroupsPage() {
  const { client } = useSession()
  const [arrived, setArrived] = useState<readonly Event[]>([])
  useFeed(true, (events) => setArrived((before) => withArrived(before, events)))
  const paged = usePages(
    (after, signal) =>
      readLog(after, (cursor) => {
        const query = { types: 'ledger.group.*', page_size: PAGE_SIZE, ...(cursor === '' ? {} : { after: cursor }) }
        return client.call('listEvents', { query, signal })
      }),
    [client],
  )
  return (
    <Page title="Settlement groups" intro="Legs of several accounts that complete together, or not at all.">
      <Section title="Open a group">
        <OpenGroup />
      </Section>
      <Section
        title="Groups that ended"
        intro="From the event log. Open groups are not in it: open them by their ID, or from a transaction."
      >
        <PagedTable
          name="the groups"
          caption="Groups that ended"
          paged={withNewest(paged, arrived)}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          empty="No settlement group has ended yet."
        />
        {arrived.length === MOST_ARRIVED && (
          <p class="quiet">Only the last {MOST_ARRIVED} groups that ended since are shown: load the page again.</p>
        )}
        {paged.more !== undefined && <p class="quiet">The log goes on. Show more to read of later groups.</p>}
      </Section>
    </Page>
  )
}

function OpenGroup() {
  const [groupId, setGroupId] = useState('')
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault()
        goTo(hrefOf(['groups', groupId.trim()]))
      }}
    >
      <Field label="Group ID" value={groupId} onValue={setGroupId} maxLength={36} />
      <button type="submit">Open</button>
    </form>
  )
}
