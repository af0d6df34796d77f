/** Webhooks and deliveries as responses show them, without secrets; and the test message. */
import { isoTimestamp } from '../../actors/timestamp.ts'
import type { Random } from '../../runtime/ports/random.ts'
import type { WebhookMessage } from '../../runtime/ports/webhook-sender.ts'
import type { AttemptResult, Delivery, StoredWebhook } from '../../runtime/ports/webhook-store.ts'

export function webhookMembers({ webhook, progress }: StoredWebhook): object {
  const { webhookId, url, types, accountId, description, ownerId, createdAtMs, disabled } = webhook
  const { delivered, failures, failingSinceMs, nextAttemptAtMs } = progress
  return {
    webhook_id: webhookId,
    url,
    types,
    ...(accountId === null ? {} : { account_id: accountId }),
    ...(description === null ? {} : { description }),
    owner: ownerId,
    created_at: isoTimestamp(createdAtMs),
    status: disabled === null ? 'active' : 'disabled',
    ...(disabled === null ? {} : { disabled_at: isoTimestamp(disabled.atMs), disabled_reason: disabled.reason }),
    delivered_count: delivered,
    failure_count: failures,
    ...(failingSinceMs === null ? {} : { failing_since: isoTimestamp(failingSinceMs) }),
    ...(failures === 0 || disabled !== null ? {} : { next_attempt_at: isoTimestamp(nextAttemptAtMs) }),
  }
}

export function deliveryMembers({ eventId, eventType, status, attempts, atMs, attempt }: Delivery): object {
  return {
    event_id: eventId,
    event_type: eventType,
    status,
    attempts,
    attempted_at: isoTimestamp(atMs),
    ...attemptMembers(attempt),
  }
}

export function attemptMembers({ httpStatus, error, latencyMs }: AttemptResult): object {
  return {
    ...(httpStatus === null ? {} : { http_status: httpStatus }),
    ...(error === null ? {} : { error }),
    latency_ms: latencyMs,
  }
}

export const WEBHOOK_TEST_TYPE = 'ledger.webhook.test.v1'
const ID_BYTES = 16

/** Has the form of an event, and is none of the log. */
export function webhookTestMessage(
  { webhookId, ledgerId, nowMs }: { readonly webhookId: string; readonly ledgerId: string; readonly nowMs: number },
  random: Pick<Random, 'hex'>,
): WebhookMessage {
  const id = `evt_${random.hex(ID_BYTES)}`
  const members = {
    specversion: '1.0',
    id,
    source: `urn:ledger:${ledgerId}`,
    type: WEBHOOK_TEST_TYPE,
    subject: webhookId,
    time: isoTimestamp(nowMs),
    datacontenttype: 'application/json',
    data: { webhook_id: webhookId },
  }
  return { id, body: JSON.stringify(members) }
}
