/** The webhook store in memory, which other tests use, under the contract of the real one. */
import { createMemoryWebhookState, createMemoryWebhookStore } from '../../support/memory/webhook-store-memory.ts'
import { webhookStoreContract } from './webhook-store.contract.ts'

webhookStoreContract('in memory', async () => {
  const state = createMemoryWebhookState()
  const clock = { now: () => Date.now() }
  return {
    store: createMemoryWebhookStore(state, clock),
    other: createMemoryWebhookStore(state, clock),
    expireLease: async (webhookId) => {
      const found = state.webhooks.get(webhookId)
      if (found !== undefined) found.leasedUntilMs = 0
    },
    close: async () => undefined,
  }
})
