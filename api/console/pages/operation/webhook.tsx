import { useState } from 'preact/hooks'
import type { Webhook, WebhookDelivery, WebhookTest } from '../../../client/index.ts'
import { eventTypeText } from '../../parts/event-transaction.ts'
import { codeText, durationText } from '../../parts/figures.ts'
import { Failure, LoadedView } from '../../parts/loaded-view.tsx'
import { Fields, Page, Section } from '../../parts/page.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Id, Status, Text, Time } from '../../parts/text.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { hrefOf } from '../../session/place.ts'
import { useSession } from '../../session/session.ts'
import { goTo } from '../../session/use-place.ts'
import { SecretNotice } from './secret-notice.tsx'

const COLUMNS: readonly Column<WebhookDelivery>[] = [
  { title: 'Last attempt', cell: ({ attempted_at: time }) => <Time value={time} /> },
  { title: 'Event', cell: ({ event_type: type }) => eventTypeText(type) },
  { title: 'Event ID', cell: ({ event_id: id }) => <Id value={id} /> },
  { title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
  { title: 'Response', cell: ({ http_status: status, error }) => status ?? codeText(error ?? 'none') },
  { title: 'Duration', isNumber: true, cell: ({ latency_ms: latency }) => durationText(latency) },
  { title: 'Status', cell: ({ status }) => <Status value={status} /> },
]

export function WebhookPage({ webhookId }: { readonly webhookId: string }) {
  const { client } = useSession()
  const path = { webhookId }
  const { loaded, reload } = useLoad(
    async (signal) => {
      const [webhook, { deliveries }] = await Promise.all([
        client.call('getWebhook', { path, signal }),
        client.call('listWebhookDeliveries', { path, signal }),
      ])
      return { webhook, deliveries }
    },
    [client, webhookId],
  )
  return (
    <Page
      title={`Webhook ${webhookId}`}
      heading={<Id value={webhookId} />}
      crumbs={[{ label: 'Webhooks', href: hrefOf(['webhooks']) }]}
      actions={
        <button type="button" onClick={reload}>
          Look again
        </button>
      }
    >
      <LoadedView of={loaded} name="the webhook">
        {({ webhook, deliveries }) => (
          <>
            <Summary webhook={webhook} />
            <Actions webhook={webhook} onChange={reload} />
            <Section title="Deliveries" intro="The last 100, newest first.">
              <Table
                caption="Deliveries"
                columns={COLUMNS}
                rows={deliveries}
                keyOf={({ event_id: id }) => id}
                empty="Nothing was sent yet."
              />
            </Section>
          </>
        )}
      </LoadedView>
    </Page>
  )
}

function Summary({ webhook }: { readonly webhook: Webhook }) {
  const { types, account_id: accountId, description, disabled_reason: reason } = webhook
  return (
    <Section title="Webhook">
      <Fields
        rows={[
          ['Status', <Status key="status" value={webhook.status} />],
          ['Why it is disabled', reason && codeText(reason)],
          ['URL', <Text key="url" value={webhook.url} />],
          ['Events', types.length === 0 ? 'all' : <Text key="types" value={types.join(', ')} />],
          ['Account', accountId && <Id key="account" value={accountId} href={hrefOf(['accounts', accountId])} />],
          ['Description', description && <Text key="description" value={description} />],
          ['Registered by', <Text key="owner" value={webhook.owner} />],
          ['Registered', <Time key="created" value={webhook.created_at} />],
          ['Delivered events', webhook.delivered_count.toLocaleString('en-US')],
          ['Failed attempts in a row', webhook.failure_count],
          ['Failing since', webhook.failing_since && <Time key="failing" value={webhook.failing_since} />],
          ['Next attempt', webhook.next_attempt_at && <Time key="next" value={webhook.next_attempt_at} />],
        ]}
      />
    </Section>
  )
}

type Outcome =
  | { readonly kind: 'none' | 'busy' }
  | { readonly kind: 'tested'; readonly test: WebhookTest }
  | { readonly kind: 'rotated'; readonly secret: string }
  | { readonly kind: 'failed'; readonly error: unknown }

function Actions({ webhook, onChange }: { readonly webhook: Webhook; readonly onChange: () => void }) {
  const { client } = useSession()
  const [outcome, setOutcome] = useState<Outcome>({ kind: 'none' })
  const path = { webhookId: webhook.webhook_id }
  const run = (work: () => Promise<Outcome>): void => {
    setOutcome({ kind: 'busy' })
    work().then(setOutcome, (error: unknown) => setOutcome({ kind: 'failed', error }))
  }
  const test = async (): Promise<Outcome> => ({ kind: 'tested', test: await client.call('testWebhook', { path }) })
  const rotate = async (): Promise<Outcome> => {
    const { secret } = await client.call('rotateWebhookSecret', { path })
    return { kind: 'rotated', secret }
  }
  const enable = async (): Promise<Outcome> => {
    await client.call('enableWebhook', { path })
    onChange()
    return { kind: 'none' }
  }
  const remove = async (): Promise<Outcome> => {
    await client.call('deleteWebhook', { path })
    goTo(hrefOf(['webhooks']))
    return { kind: 'none' }
  }
  const isBusy = outcome.kind === 'busy'
  const confirmed = (question: string, work: () => Promise<Outcome>) => () => {
    if (confirm(question)) run(work)
  }
  return (
    <Section title="Actions">
      <div class="actions">
        <button type="button" disabled={isBusy} onClick={() => run(test)}>
          Send a test message
        </button>
        {webhook.status === 'disabled' && (
          <button type="button" disabled={isBusy} onClick={() => run(enable)}>
            Enable
          </button>
        )}
        <button
          type="button"
          disabled={isBusy}
          onClick={confirmed('Replace the secret? The old one signs for 24 hours more.', rotate)}
        >
          Replace the secret
        </button>
        <button type="button" class="danger" disabled={isBusy} onClick={confirmed('Delete this webhook?', remove)}>
          Delete
        </button>
      </div>
      <div role="status">
        {outcome.kind === 'tested' && <TestResult test={outcome.test} />}
        {outcome.kind === 'rotated' && <SecretNotice secret={outcome.secret} />}
      </div>
      {outcome.kind === 'failed' && <Failure error={outcome.error} action="The action" />}
    </Section>
  )
}

function TestResult({ test }: { readonly test: WebhookTest }) {
  const { accepted, http_status: httpStatus, error, latency_ms: latency } = test
  const result = httpStatus === undefined ? codeText(error ?? 'no response') : `HTTP status ${httpStatus}`
  return (
    <p class={`notice ${accepted ? 'good' : 'bad'}`}>
      <span>
        <strong>{accepted ? 'Delivered' : 'Not delivered'}</strong>: {result}, in {durationText(latency)}.
      </span>
    </p>
  )
}
