/** The webhook store in memory: all that the port promises, for tests that want no database. */
import type { Clock } from '../../../runtime/ports/clock.ts'
import {
  type Delivery,
  KEPT_DELIVERIES,
  LEASE_MS,
  MAX_WEBHOOKS,
  MAX_WEBHOOKS_OF_CLIENT,
  type StoredWebhook,
  type WebhookStore,
  type WebhookStoreUnavailable,
} from '../../../runtime/ports/webhook-store.ts'

export interface MemoryWebhook {
  stored: StoredWebhook
  lease: number
  /** By the store's clock; null: released. */
  leasedUntilMs: number | null
  readonly deliveries: Map<number, Delivery>
}

/** State that all stores made from it share. Each call takes effect in one turn, so none sees half of another. */
export interface MemoryWebhookState {
  readonly webhooks: Map<string, MemoryWebhook>
  /** IDs by client and key of the creation (B7). */
  readonly keys: Map<string, string>
  /** Thrown by each call, if set. */
  failure: WebhookStoreUnavailable | null
}

export function createMemoryWebhookState(): MemoryWebhookState {
  return { webhooks: new Map(), keys: new Map(), failure: null }
}

/** `step`: how much a claim raises the number of the lease. */
export function createMemoryWebhookStore(
  state: MemoryWebhookState,
  clock: Pick<Clock, 'now'>,
  step: () => number = () => 1,
): WebhookStore {
  const { webhooks, keys } = state
  const check = (): void => {
    if (state.failure !== null) throw state.failure
  }
  const sorted = (): readonly MemoryWebhook[] =>
    [...webhooks.values()].sort((a, b) => (a.stored.webhook.webhookId < b.stored.webhook.webhookId ? -1 : 1))
  return {
    async create(webhook, position, key = null) {
      check()
      const earlier = key === null ? undefined : keys.get(JSON.stringify([webhook.ownerId, key]))
      const kept = earlier === undefined ? undefined : webhooks.get(earlier)
      if (kept !== undefined) return structuredClone(kept.stored)
      const own = sorted().filter(({ stored }) => stored.webhook.ownerId === webhook.ownerId)
      if (own.length >= MAX_WEBHOOKS_OF_CLIENT) return 'too_many_of_client'
      if (webhooks.size >= MAX_WEBHOOKS) return 'too_many'
      const counts = { delivered: 0, failures: 0, failingSinceMs: null, nextAttemptAtMs: webhook.createdAtMs }
      const stored = structuredClone({ webhook, progress: { position, ...counts } })
      webhooks.set(webhook.webhookId, { stored, lease: 0, leasedUntilMs: null, deliveries: new Map() })
      if (key !== null) keys.set(JSON.stringify([webhook.ownerId, key]), webhook.webhookId)
      return structuredClone(stored)
    },
    async webhook(webhookId) {
      check()
      return structuredClone(webhooks.get(webhookId)?.stored)
    },
    async webhooks(ownerId) {
      check()
      const all = sorted().map(({ stored }) => stored)
      return structuredClone(all.filter(({ webhook }) => ownerId === null || webhook.ownerId === ownerId))
    },
    async change(webhookId, change) {
      check()
      const found = webhooks.get(webhookId)
      if (found === undefined) return undefined
      const { webhook, progress = found.stored.progress } = change(structuredClone(found.stored))
      found.stored = structuredClone({ webhook, progress })
      found.lease += 1
      found.leasedUntilMs = null
      return structuredClone(found.stored)
    },
    async remove(webhookId) {
      check()
      return webhooks.delete(webhookId)
    },
    async deliveries(webhookId) {
      check()
      const kept = [...(webhooks.get(webhookId)?.deliveries.values() ?? [])]
      return structuredClone(kept.sort((a, b) => b.number - a.number))
    },
    ...leasesOf(state, check, { clock, step }),
  }
}

function leasesOf(
  { webhooks }: MemoryWebhookState,
  check: () => void,
  { clock, step }: { readonly clock: Pick<Clock, 'now'>; readonly step: () => number },
): Pick<WebhookStore, 'claim' | 'renew' | 'save'> {
  const held = (webhookId: string, number: number): MemoryWebhook | undefined => {
    const found = webhooks.get(webhookId)
    return found?.lease === number && found.leasedUntilMs !== null ? found : undefined
  }
  return {
    async claim(_, limit) {
      check()
      const free = [...webhooks.values()]
        .filter(({ leasedUntilMs }) => leasedUntilMs === null || leasedUntilMs <= clock.now())
        .filter(({ stored }) => stored.webhook.disabled === null && stored.progress.nextAttemptAtMs <= clock.now())
        .sort((a, b) => a.stored.progress.nextAttemptAtMs - b.stored.progress.nextAttemptAtMs)
      return free.slice(0, limit).map((one) => {
        one.lease += step()
        one.leasedUntilMs = clock.now() + LEASE_MS
        const lease = { webhookId: one.stored.webhook.webhookId, number: one.lease }
        return structuredClone({ ...one.stored, lease })
      })
    },
    async renew(leases) {
      check()
      return leases.filter(({ webhookId, number }) => {
        const found = held(webhookId, number)
        if (found !== undefined) found.leasedUntilMs = clock.now() + LEASE_MS
        return found !== undefined
      })
    },
    async save({ webhookId, number }, { progress, deliveries, webhook, release = false }) {
      check()
      const found = held(webhookId, number)
      if (found === undefined) return false
      found.stored = structuredClone({ webhook: webhook ?? found.stored.webhook, progress })
      found.leasedUntilMs = release ? null : clock.now() + LEASE_MS
      for (const one of deliveries.slice(-KEPT_DELIVERIES)) {
        found.deliveries.set(one.number % KEPT_DELIVERIES, structuredClone(one))
      }
      return true
    },
  }
}
