/** Webhooks for tests of stores. */
import type { Delivery, Webhook, WebhookStore } from '../../../runtime/ports/webhook-store.ts'

export interface WebhookStoreSubject {
  readonly store: WebhookStore
  /** Another store on the same data. */
  readonly other: WebhookStore
  /** Ends the lease of the webhook as time would. */
  readonly expireLease: (webhookId: string) => Promise<void>
  readonly close: () => Promise<void>
}

let made = 0

export function aWebhook(overrides: Partial<Webhook> = {}): Webhook {
  made += 1
  return {
    webhookId: `whk_01K6${String(made).padStart(22, '0')}`,
    ownerId: `owner-${made}`,
    url: 'https://receiver.example/hook?token=x',
    types: ['ledger.transaction.*'],
    accountId: 'alice',
    description: 'for the books',
    secrets: { current: 'whsec_MTIzNA==', previous: [] },
    createdAtMs: 1_760_000_000_000 + made,
    disabled: null,
    ...overrides,
  }
}

export function aDelivery(number: number, overrides: Partial<Delivery> = {}): Delivery {
  return {
    number,
    eventId: `evt_${number}`,
    eventType: 'ledger.transaction.completed.v1',
    status: 'delivered',
    attempts: 1,
    atMs: 1_760_000_000_000 + number,
    attempt: { httpStatus: 204, error: null, latencyMs: 12 },
    ...overrides,
  }
}
