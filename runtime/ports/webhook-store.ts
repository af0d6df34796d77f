/**
 * Webhooks (D23): where events are sent, how far each has come, and its last deliveries.
 * Contract: test/contract/webhook-store/webhook-store.contract.ts
 *   B1. A call resolves after its commit: its result is stored.
 *   B2. At most one lease of a webhook is valid. Each claim has a higher number than the one before; `save` under an earlier
 *       number changes nothing and returns false. A holder that was paused can neither move a position back nor on. Numbers
 *       grow by random steps: a lease of another copy of the database, such as one before a restore, is not valid in this one.
 *   B3. A lease ends `LEASE_MS` after its last claim, renewal or `save`, by the store's clock. Only then, or once it was
 *       released, can another holder claim the webhook.
 *   B4. Every change that is not made under the lease voids it, so that the next holder sees the change.
 *   B5. A webhook that is disabled, not due or unreadable is not delivered: no claim returns it.
 *   B6. The number of webhooks is bounded: for each client, and for all.
 *   B7. A client creates one webhook under one key: a repeat returns the stored one.
 * Every failure is a `WebhookStoreUnavailable`; after a failed write its effect is unknown.
 */
import type { EventPosition } from './ledger-events.ts'

export const LEASE_MS = 10_000
export const MAX_WEBHOOKS_OF_CLIENT = 16
export const MAX_WEBHOOKS = 256
/** Deliveries that are kept of a webhook. */
export const KEPT_DELIVERIES = 100

export interface WebhookStore {
  /** Events after `position` are to be delivered. `key`: of the client, for repeats (B7). */
  readonly create: (webhook: Webhook, position: EventPosition, key?: string | null) => Promise<WebhookCreation>
  /** By ID, which may be any text; undefined if there is none. */
  readonly webhook: (webhookId: string) => Promise<StoredWebhook | undefined>
  /** In order of their IDs. `ownerId`: of this client; null: of all. */
  readonly webhooks: (ownerId: string | null) => Promise<readonly StoredWebhook[]>
  /**
   * Stores what `change` returns; it may be called several times. `progress` also changes how far the webhook has come.
   * Returns undefined if there is no such webhook.
   */
  readonly change: (webhookId: string, change: WebhookChange) => Promise<StoredWebhook | undefined>
  /** False if there is no such webhook. */
  readonly remove: (webhookId: string) => Promise<boolean>
  /** The last deliveries, newest first, without unreadable ones. */
  readonly deliveries: (webhookId: string) => Promise<readonly Delivery[]>
  /** Leases up to `limit` due webhooks, those that have waited longest first. */
  readonly claim: (holder: string, limit: number) => Promise<readonly LeasedWebhook[]>
  /** Returns the leases that are still valid. */
  readonly renew: (leases: readonly Lease[]) => Promise<readonly Lease[]>
  /** False: the lease is not valid any more, and nothing was stored (B2). */
  readonly save: (lease: Lease, saved: SavedProgress) => Promise<boolean>
}

export interface Webhook {
  /** `whk_<ULID>` of `createdAtMs`. */
  readonly webhookId: string
  /** The client whose scope decides which events are sent. */
  readonly ownerId: string
  readonly url: string
  /** Patterns of event types; empty: all. */
  readonly types: readonly string[]
  /** Only events that concern this account; null: any. */
  readonly accountId: string | null
  readonly description: string | null
  readonly secrets: WebhookSecrets
  readonly createdAtMs: number
  /** Null while it is active. */
  readonly disabled: { readonly atMs: number; readonly reason: DisableReason } | null
}

/** As receivers know them: `whsec_` and base64. */
export interface WebhookSecrets {
  readonly current: string
  /** Newest first. Each signs too until `untilMs`. */
  readonly previous: readonly { readonly secret: string; readonly untilMs: number }[]
}

/**
 * `delivery_failed`: no attempt succeeded for 5 days. `client_revoked`: its client was revoked. `position_lost`: the database
 * was replaced, so that its position has no meaning any more.
 */
export const DISABLE_REASONS = ['delivery_failed', 'client_revoked', 'position_lost'] as const
export type DisableReason = (typeof DISABLE_REASONS)[number]

/** Times are milliseconds since 1970, by the ledger's clock. */
export interface WebhookProgress {
  /** Behind the last event that was accepted or that the filter left out. */
  readonly position: EventPosition
  /** Events that were accepted so far: the number of the next delivery. */
  readonly delivered: number
  /** Consecutive failed attempts of the next event. */
  readonly failures: number
  /** The first of these attempts; null: none failed. */
  readonly failingSinceMs: number | null
  readonly nextAttemptAtMs: number
}

export interface StoredWebhook {
  readonly webhook: Webhook
  readonly progress: WebhookProgress
}

export type WebhookChange = (stored: StoredWebhook) => {
  readonly webhook: Webhook
  readonly progress?: WebhookProgress
}

export type WebhookCreation = StoredWebhook | 'too_many_of_client' | 'too_many'

export interface Lease {
  readonly webhookId: string
  readonly number: number
}

export interface LeasedWebhook extends StoredWebhook {
  readonly lease: Lease
}

export interface SavedProgress {
  readonly progress: WebhookProgress
  /** Up to `KEPT_DELIVERIES`. One with an earlier number replaces that delivery. */
  readonly deliveries: readonly Delivery[]
  /** The webhook if it changed: disabled. */
  readonly webhook?: Webhook
  /** Ends the lease. */
  readonly release?: boolean
}

/** An event with its attempts so far. */
export interface Delivery {
  /** Counts the events of the webhook from 0. */
  readonly number: number
  readonly eventId: string
  readonly eventType: string
  readonly status: 'delivered' | 'failing'
  readonly attempts: number
  /** The last attempt. */
  readonly atMs: number
  readonly attempt: AttemptResult
}

/** `error` is null exactly if the receiver accepted the event. */
export interface AttemptResult {
  /** Null: no response. */
  readonly httpStatus: number | null
  readonly error: AttemptError | null
  readonly latencyMs: number
}

/**
 * `status`: a response other than 2xx. `address_refused`: the ledger may not connect to the address. `timeout`: no
 * response in time. `name_not_resolved`, `connection_failed`, `tls_failed`: no connection, or none that lasted.
 */
export const ATTEMPT_ERRORS = [
  'status',
  'address_refused',
  'timeout',
  'name_not_resolved',
  'connection_failed',
  'tls_failed',
] as const
export type AttemptError = (typeof ATTEMPT_ERRORS)[number]

export class WebhookStoreUnavailable extends Error {
  override readonly name = 'WebhookStoreUnavailable'
}
