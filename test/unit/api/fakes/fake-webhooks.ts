/** Webhooks of an edge in memory, and the messages that it sent. */
import type { Clock } from '../../../../runtime/ports/clock.ts'
import type { WebhookMessage, WebhookSender, WebhookTarget } from '../../../../runtime/ports/webhook-sender.ts'
import type { AttemptResult, WebhookStore } from '../../../../runtime/ports/webhook-store.ts'
import {
  createMemoryWebhookState,
  createMemoryWebhookStore,
  type MemoryWebhookState,
} from '../../../support/memory/webhook-store-memory.ts'

export interface FakeWebhooks {
  readonly store: WebhookStore
  readonly state: MemoryWebhookState
  readonly sent: { readonly target: WebhookTarget; readonly message: WebhookMessage }[]
  readonly forgotten: string[]
  result: AttemptResult | Promise<AttemptResult>
  readonly sender: WebhookSender
}

export function createFakeWebhooks(clock: Pick<Clock, 'now'>): FakeWebhooks {
  const state = createMemoryWebhookState()
  const fake: FakeWebhooks = {
    store: createMemoryWebhookStore(state, clock),
    state,
    sent: [],
    forgotten: [],
    result: { httpStatus: 204, error: null, latencyMs: 5 },
    sender: {
      mayConnect: (hostname) => hostname !== '10.0.0.1',
      async send(target, message) {
        fake.sent.push({ target, message })
        return fake.result
      },
      forget: (connection) => void fake.forgotten.push(connection),
    },
  }
  return fake
}
