/** The idempotency store in memory, which other tests use, under the contract of the real one. */
import { createMemoryIdempotencyStore } from '../../support/memory/idempotency-store-memory.ts'
import { idempotencyStoreContract } from './idempotency-store.contract.ts'

idempotencyStoreContract('in memory', async () => {
  let nowMs = 1_760_000_000_000
  const { store } = createMemoryIdempotencyStore({ now: () => nowMs })
  return {
    store,
    other: store,
    age: async (_key, byMs) => {
      nowMs += byMs
    },
    close: async () => undefined,
  }
})
