import { useState } from 'preact/hooks'
import type { Event } from '../../../client/index.ts'
import { eventTypeText } from '../../parts/event-transaction.ts'
import { Field } from '../../parts/field.tsx'
import { LoadedView } from '../../parts/loaded-view.tsx'
import { Empty, Page, Section } from '../../parts/page.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Id, Time } from '../../parts/text.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { hrefOf } from '../../session/place.ts'
import { useSession } from '../../session/session.ts'
import { goTo } from '../../session/use-place.ts'

const MOST_PAGES = 5
const PAGE_SIZE = 1_000
const SHOWN = 100

const COLUMNS: readonly Column<Event>[] = [
  { title: 'Time', cell: ({ time }) => <Time value={time} /> },
  { title: 'Group', cell: ({ subject }) => <Id value={subject} href={hrefOf(['groups', subject])} /> },
  { title: 'Outcome', cell: ({ type }) => eventTypeText(type) },
]

export function GroupsPage() {
  const { client } = useSession()
  const { loaded, reload } = useLoad(
    async (signal) => {
      const events: Event[] = []
      let after: string | undefined
      for (let page = 0; page < MOST_PAGES; page += 1) {
        const query = { types: 'ledger.group.*', page_size: PAGE_SIZE, ...(after === undefined ? {} : { after }) }
        const found = await client.call('listEvents', { query, signal })
        events.push(...found.events)
        if (found.events.length < PAGE_SIZE) return { events, isAll: true }
        after = found.next_cursor
      }
      return { events, isAll: false }
    },
    [client],
  )
  return (
    <Page title="Settlement groups" intro="Legs of several accounts that complete together, or not at all.">
      <Section title="Open a group">
        <OpenGroup />
      </Section>
      <Section
        title="Groups that ended"
        intro="From the event log, which has the groups that settled or reverted."
        actions={
          <button type="button" onClick={reload}>
            Look again
          </button>
        }
      >
        <LoadedView of={loaded} name="the groups">
          {({ events, isAll }) =>
            events.length === 0 ? (
              <Empty>No settlement group has ended yet.</Empty>
            ) : (
              <>
                <Table
                  caption="Groups that ended"
                  columns={COLUMNS}
                  rows={events.slice(-SHOWN).toReversed()}
                  keyOf={({ id }) => id}
                />
                {!isAll && (
                  <p class="quiet">
                    These are among the first {(MOST_PAGES * PAGE_SIZE).toLocaleString('en-US')} groups. Open later ones
                    by their ID, or from a transaction.
                  </p>
                )}
              </>
            )
          }
        </LoadedView>
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
