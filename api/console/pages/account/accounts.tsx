import { useState } from 'preact/hooks'
import type { Account } from '../../../client/index.ts'
import { Page, Section } from '../../parts/page.tsx'
import { type Column, PagedTable } from '../../parts/table.tsx'
import { Id, Status, Time } from '../../parts/text.tsx'
import { useList } from '../../parts/use-pages.ts'
import { hrefOf } from '../../session/place.ts'
import { permits, useSession } from '../../session/session.ts'
import { goTo } from '../../session/use-place.ts'

const COLUMNS: readonly Column<Account>[] = [
  { title: 'Account', cell: ({ account_id: id }) => <Id value={id} href={hrefOf(['accounts', id])} /> },
  { title: 'Status', cell: ({ status, erased }) => <Status value={erased === true ? 'erased' : status} /> },
  { title: 'Shard', isNumber: true, cell: ({ shard_id: shard }) => shard },
  { title: 'Chain entries', isNumber: true, cell: ({ sequence }) => (sequence + 1).toLocaleString('en-US') },
  { title: 'Last change', cell: ({ updated_at: time }) => <Time value={time} /> },
]

export function AccountsPage() {
  const session = useSession()
  return (
    <Page title="Accounts" intro="Balances, holds, NFTs and the audit chain of each account. Times are in UTC.">
      <Section title="Open an account">
        <OpenAccount />
      </Section>
      {permits(session, 'admin') ? (
        <Section title="All accounts">
          <AccountList />
        </Section>
      ) : (
        <Section title="All accounts">
          <p class="quiet">Only an administrator lists accounts. Open an account by its ID, or from a transaction.</p>
        </Section>
      )}
    </Page>
  )
}

function OpenAccount() {
  const [accountId, setAccountId] = useState('')
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault()
        goTo(hrefOf(['accounts', accountId.trim()]))
      }}
    >
      <label>
        Account ID
        <input
          required
          spellcheck={false}
          autocomplete="off"
          maxLength={128}
          value={accountId}
          onInput={({ currentTarget }) => setAccountId(currentTarget.value)}
        />
      </label>
      <button type="submit">Open</button>
    </form>
  )
}

function AccountList() {
  const paged = useList('listAccounts')
  return (
    <PagedTable
      name="the accounts"
      caption="Accounts"
      paged={paged}
      columns={COLUMNS}
      keyOf={({ account_id: id }) => id}
      empty={
        <>
          There are no accounts yet. <a href={hrefOf(['holder'])}>Make the first one in this browser</a>.
        </>
      }
    />
  )
}
