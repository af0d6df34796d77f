/** Responses about webhooks (D23). */
import * as v from 'valibot'
import { ATTEMPT_ERRORS, DISABLE_REASONS } from '../../../runtime/ports/webhook-store.ts'
import { accountIdField } from '../fields.ts'
import { define, named } from '../named-schema.ts'
import { count, pageToken, text, timestamp } from '../values.ts'

const webhookId = named(
  'WebhookId',
  'A webhook: `whk_` and a ULID.',
  v.pipe(v.string(), v.regex(/^whk_[0-7][0-9A-HJKMNP-TV-Z]{25}$/)),
)
const secret = named(
  'WebhookSecret',
  'Signs the messages after Standard Webhooks: `whsec_` and base64 of 32 bytes.',
  v.pipe(v.string(), v.regex(/^whsec_[A-Za-z0-9+/]{43}=$/)),
)

const webhookFields = {
  webhook_id: [webhookId, 'The webhook.'],
  url: [text, 'The receiver.'],
  types: [v.array(text), 'Only events of these types; empty: all.'],
  account_id: [v.exactOptional(accountIdField), 'Only events that concern this account.'],
  description: [v.exactOptional(text), 'For people.'],
  owner: [text, 'The client that registered it. Its scope decides which events are sent.'],
  created_at: timestamp,
  status: [v.picklist(['active', 'disabled']), 'A disabled webhook gets no events until it is enabled.'],
  disabled_at: [v.exactOptional(timestamp), 'When it was disabled.'],
  disabled_reason: [
    v.exactOptional(v.picklist(DISABLE_REASONS)),
    '`delivery_failed`: no attempt succeeded for five days. `client_revoked`: its owner was revoked. `position_lost`: the database was replaced, so that its place in the log has no meaning any more.',
  ],
  delivered_count: [count, 'How many events the receiver has accepted.'],
  failure_count: [count, 'Consecutive failed attempts of the next event.'],
  failing_since: [v.exactOptional(timestamp), 'The first of these attempts.'],
  next_attempt_at: [
    v.exactOptional(timestamp),
    'When the next attempt is made, at the earliest; only after a failed one.',
  ],
} as const

export const webhookResponse = define('Webhook', 'Where events are sent, and how far they have come.', webhookFields)

export const createdWebhookResponse = define('CreatedWebhook', 'A webhook with its secret, which is shown only here.', {
  ...webhookFields,
  secret: [secret, 'Verify messages with it.'],
})

export const webhookListResponse = define('WebhookList', 'One page of webhooks.', {
  webhooks: [v.array(webhookResponse), 'The webhooks of this page.'],
  next_page_token: pageToken,
})

export const rotatedSecretResponse = define('RotatedWebhookSecret', 'The new secret of a webhook.', {
  webhook_id: [webhookId, 'The webhook.'],
  secret: [secret, 'Signs from now on.'],
  previous_secret_expires_at: [timestamp, 'Until then the previous secret signs each message, too.'],
})

const attemptFields = {
  http_status: [v.exactOptional(v.pipe(v.number(), v.integer())), 'The status of the response; left out without one.'],
  error: [
    v.exactOptional(v.picklist(ATTEMPT_ERRORS)),
    'Why it was not accepted. `status`: the response was not 2xx. `address_refused`: the ledger does not send to this address. `timeout`: no response within 10 s. `name_not_resolved`, `connection_failed`, `tls_failed`: no connection, or none that lasted.',
  ],
  latency_ms: [count, 'From the beginning of the attempt to the end of the response.'],
} as const

export const webhookTestResponse = define('WebhookTest', 'The result of a test message.', {
  webhook_id: [webhookId, 'The webhook.'],
  event_id: [text, 'The header `webhook-id` of the message.'],
  accepted: [v.boolean(), 'Whether the response was 2xx.'],
  ...attemptFields,
})

const deliveryResponse = define('WebhookDelivery', 'An event and its attempts so far.', {
  event_id: [text, 'The event.'],
  event_type: [text, 'Its type.'],
  status: [v.picklist(['delivered', 'failing']), '`failing`: it is tried again.'],
  attempts: [count, 'How often it was sent.'],
  attempted_at: [timestamp, 'The last attempt.'],
  ...attemptFields,
})

export const deliveryListResponse = define('WebhookDeliveries', 'The last 100 deliveries, newest first.', {
  webhook_id: [webhookId, 'The webhook.'],
  deliveries: [v.array(deliveryResponse), 'The deliveries.'],
})
