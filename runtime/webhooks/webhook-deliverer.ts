/**
 * Delivers webhooks: claims them, keeps their leases, and runs one delivery for each.
 *   W1. An edge that stops or dies loses its leases within `LEASE_MS`; other edges then claim its webhooks.
 *   W2. A webhook of a revoked client is disabled, and one of a changed client follows the new scope, within
 *       `RENEW_EVERY_MS` and the time of a renewal. If the rights of clients cannot be read, leases are not renewed.
 */
import type { AccountScope } from '../../actors/account-scope.ts'
import { repeat } from '../ports/clock.ts'
import { LEASE_MS, type LeasedWebhook, MAX_WEBHOOKS, type Webhook, type WebhookStore } from '../ports/webhook-store.ts'
import { type DeliveryDependencies, type EventFilter, WebhookDelivery } from './delivery.ts'
import type { WebhookOwners } from './webhook-owners.ts'

export interface DelivererDependencies extends Omit<DeliveryDependencies, 'store'> {
  readonly store: Pick<WebhookStore, 'claim' | 'renew' | 'save'>
  readonly owners: WebhookOwners
  readonly filterOf: (webhook: Webhook, scope: AccountScope) => EventFilter
  /** Names this process in leases. */
  readonly holder: string
}

export interface WebhookMeasures {
  /** Webhooks that this edge delivers. */
  readonly held: number
  /** Those whose last attempt failed. */
  readonly failing: number
  /** The largest age of an event that waits to be accepted. */
  readonly lagMs: number
}

const CLAIM_EVERY_MS = 1_000
/** Few, so that edges that start together share the webhooks. */
const CLAIMED_AT_ONCE = 16
export const RENEW_EVERY_MS = LEASE_MS / 4
/** An unreadable client is looked for again after this. */
const UNREADABLE_DELAY_MS = 30_000

interface Running {
  readonly webhook: Webhook
  readonly delivery: WebhookDelivery
  readonly ended: Promise<void>
}

export class WebhookDeliverer {
  private readonly running = new Map<string, Running>()
  private readonly dependencies: DelivererDependencies
  private readonly timers: { readonly stop: () => void }[] = []
  /** The claims and the renewal under way. */
  private readonly working = new Set<Promise<void>>()
  private isStopped = false

  constructor(dependencies: DelivererDependencies) {
    this.dependencies = dependencies
  }

  start(): void {
    const { clock } = this.dependencies
    this.timers.push(repeat(clock, CLAIM_EVERY_MS, () => this.attempt('webhooks_not_claimed', () => this.claim())))
    this.timers.push(repeat(clock, RENEW_EVERY_MS, () => this.attempt('webhooks_not_renewed', () => this.renew())))
  }

  /** For a webhook that was created or changed here, and that no edge holds now: it does not wait for the next claim. */
  claimNow(): void {
    if (!this.isStopped) void this.attempt('webhooks_not_claimed', () => this.claim())
  }

  /** Waits for the messages in flight, and releases the leases. */
  async stop(): Promise<void> {
    this.isStopped = true
    for (const timer of this.timers) timer.stop()
    await Promise.all(this.working)
    for (const { delivery } of this.running.values()) delivery.stop()
    await Promise.all([...this.running.values()].map(({ ended }) => ended))
  }

  measures(): WebhookMeasures {
    const all = [...this.running.values()].map(({ delivery }) => delivery)
    return {
      held: all.length,
      failing: all.filter((one) => one.isFailing()).length,
      lagMs: Math.max(0, ...all.map((one) => one.lagMs())),
    }
  }

  private async claim(): Promise<void> {
    const { clock, holder, owners, store } = this.dependencies
    const free = MAX_WEBHOOKS - this.running.size
    if (free <= 0) return
    const sentAtMs = clock.monotonic()
    const claimed = await store.claim(holder, Math.min(CLAIMED_AT_ONCE, free))
    if (claimed.length === 0) return
    await owners.refresh()
    for (const leased of claimed) await this.begin(leased, sentAtMs)
  }

  private async begin(leased: LeasedWebhook, claimedAtMs: number): Promise<void> {
    const { clock, filterOf, owners, store } = this.dependencies
    const { webhook, progress, lease } = leased
    const scope = await owners.scopeOf(webhook.ownerId)
    if (this.isStopped || scope === undefined) {
      const nextAttemptAtMs = clock.now() + (this.isStopped ? 0 : UNREADABLE_DELAY_MS)
      await store.save(lease, { progress: { ...progress, nextAttemptAtMs }, deliveries: [], release: true })
      return
    }
    const filter: EventFilter = scope === null ? () => false : filterOf(webhook, scope)
    const delivery = new WebhookDelivery(leased, filter, claimedAtMs, this.dependencies)
    if (scope === null) delivery.stop('client_revoked')
    // An earlier delivery of this webhook has lost its lease, and may not have noticed yet.
    this.running.get(lease.webhookId)?.delivery.stop()
    const ended = delivery.run().finally(() => {
      if (this.running.get(lease.webhookId)?.delivery === delivery) this.running.delete(lease.webhookId)
    })
    this.running.set(lease.webhookId, { webhook, delivery, ended })
  }

  private async renew(): Promise<void> {
    const { clock, filterOf, owners, store } = this.dependencies
    const held = [...this.running.values()]
    if (held.length === 0) return
    const beganAtMs = clock.monotonic()
    await owners.refresh()
    const valid = await store.renew(held.map(({ delivery }) => delivery.lease))
    const numbers = new Map(valid.map(({ webhookId, number }) => [webhookId, number]))
    for (const { webhook, delivery } of held) {
      const { webhookId, number } = delivery.lease
      if (numbers.get(webhookId) !== number) delivery.stop()
      else {
        const scope = await owners.scopeOf(webhook.ownerId)
        if (scope === null) delivery.stop('client_revoked')
        else if (scope === undefined) delivery.stop()
        else delivery.renewed(beganAtMs, filterOf(webhook, scope))
      }
    }
  }

  private async attempt(event: string, work: () => Promise<void>): Promise<void> {
    const attempt = work().catch((error: unknown) => {
      this.dependencies.log.warn(event, { reason: error instanceof Error ? error.name : 'unknown' })
    })
    this.working.add(attempt)
    await attempt
    this.working.delete(attempt)
  }
}
