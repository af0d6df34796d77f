import { useState } from 'preact/hooks'
import type { CreatedWebhook, Webhook } from '../../../client/index.ts'
import { Field } from '../../parts/field.tsx'
import { Failure } from '../../parts/loaded-view.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { type Column, PagedTable } from '../../parts/table.tsx'
import { Id, Status, Text } from '../../parts/text.tsx'
import { useList } from '../../parts/use-pages.ts'
import { hrefOf } from '../../session/place.ts'
import { permits, useSession } from '../../session/session.ts'
import { SecretNotice } from './secret-notice.tsx'
import { typesIn } from './webhook-types.ts'

const COLUMNS: readonly Column<Webhook>[] = [
  { title: 'Webhook', cell: ({ webhook_id: id }) => <Id value={id} href={hrefOf(['webhooks', id])} /> },
  { title: 'URL', cell: ({ url }) => <Text value={url} limit={120} /> },
  { title: 'Events', cell: ({ types }) => <Text value={types.length === 0 ? 'all' : types.join(', ')} /> },
  { title: 'Delivered', isNumber: true, cell: ({ delivered_count: count }) => count.toLocaleString('en-US') },
  { title: 'Failures', isNumber: true, cell: ({ failure_count: count }) => count },
  { title: 'Status', cell: ({ status }) => <Status value={status} /> },
]

export function WebhooksPage() {
  const session = useSession()
  return (
    <Page title="Webhooks" intro="URLs to which the ledger sends events, in order, each at least once.">
      {permits(session, 'transactor') ? (
        <WebhookList />
      ) : (
        <p class="notice warn">A viewer has no webhooks. Sign in as a transactor or an administrator.</p>
      )}
    </Page>
  )
}

function WebhookList() {
  const paged = useList('listWebhooks')
  return (
    <>
      <Section title="Webhooks of this client">
        <PagedTable
          name="the webhooks"
          caption="Webhooks"
          paged={paged}
          columns={COLUMNS}
          keyOf={({ webhook_id: id }) => id}
          empty="There are no webhooks yet. Register one below."
        />
      </Section>
      <RegisterWebhook onRegistered={paged.reload} />
    </>
  )
}

function RegisterWebhook({ onRegistered }: { readonly onRegistered: () => void }) {
  const { client } = useSession()
  const [draft, setDraft] = useState({ url: '', types: '', accountId: '', description: '' })
  const [created, setCreated] = useState<CreatedWebhook>()
  const [error, setError] = useState<unknown>()
  const register = async (): Promise<void> => {
    setError(undefined)
    try {
      const types = typesIn(draft.types)
      const body = {
        url: draft.url.trim(),
        ...(types.length === 0 ? {} : { types }),
        ...(draft.accountId === '' ? {} : { account_id: draft.accountId.trim() }),
        ...(draft.description === '' ? {} : { description: draft.description }),
      }
      setCreated(await client.call('createWebhook', { body }))
      onRegistered()
    } catch (failure) {
      setError(failure)
    }
  }
  return (
    <Section title="Register a webhook">
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          void register()
        }}
      >
        <Field label="URL" value={draft.url} onValue={(url) => setDraft({ ...draft, url })} maxLength={2_048} />
        <Field
          label="Event types (empty: all)"
          value={draft.types}
          onValue={(types) => setDraft({ ...draft, types })}
          choices={['ledger.transaction.*', 'ledger.group.*', 'ledger.nft.*', 'ledger.hold.*']}
          isOptional
        />
        <Field
          label="Account (empty: all)"
          value={draft.accountId}
          onValue={(accountId) => setDraft({ ...draft, accountId })}
          isOptional
        />
        <Field
          label="Description"
          value={draft.description}
          onValue={(description) => setDraft({ ...draft, description })}
          isOptional
        />
        <button type="submit">Register</button>
      </form>
      <div role="status">{created !== undefined && <SecretNotice secret={created.secret} />}</div>
      {error !== undefined && <Failure error={error} action="The registration" />}
    </Section>
  )
}
