/**
 * Delivers the events of one webhook, under a lease.
 *   L1. One event at a time: the next one only after the receiver accepted this one. So each event arrives at least once,
 *       and the first arrivals are in the order of the log.
 *   L2. The stored position is never ahead of the accepted events. The next holder sends events again that were accepted
 *       after the last save.
 *   L3. Nothing is sent once the lease may have ended, or the rights of the client were read `LEASE_MS` ago, by a clock that
 *       is not set back. Nothing is stored without the lease.
 *   L4. A delivery that waits or fails holds up no other webhook: it has no slot in common with them.
 *   L5. `FRESH_MS` after a read, none but its first event for the receiver is sent: what an erasure has removed since then is
 *       not sent.
 */
import type { Clock } from '../ports/clock.ts'
import { EventPositionForeign, type LedgerEvent } from '../ports/ledger-events.ts'
import type { Log } from '../ports/log.ts'
import type { WebhookMetrics } from '../ports/metrics.ts'
import type { Random } from '../ports/random.ts'
import type { WebhookSender } from '../ports/webhook-sender.ts'
import {
  type AttemptResult,
  type Delivery,
  type DisableReason,
  KEPT_DELIVERIES,
  LEASE_MS,
  type LeasedWebhook,
  type SavedProgress,
  type Webhook,
  type WebhookProgress,
  type WebhookStore,
} from '../ports/webhook-store.ts'
import { GIVE_UP_AFTER_MS, nextAttemptAt } from './backoff.ts'
import type { EventFeed } from './event-feed.ts'

export interface DeliveryDependencies {
  readonly store: Pick<WebhookStore, 'save'>
  readonly feed: EventFeed
  readonly sender: WebhookSender
  /** The body of the message, and the type as it is shown. */
  readonly show: (event: LedgerEvent) => { readonly type: string; readonly body: string }
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics?: WebhookMetrics
}

export type EventFilter = (event: LedgerEvent) => boolean

/** While events go on being accepted, the position is stored at least this often. */
const SAVE_EVERY_MS = 250
/** The same while events are only left out. */
const SAVE_LEFT_OUT_EVERY_MS = 30_000
/** After a read that failed. */
const READ_AGAIN_MS = 1_000
const FRESH_MS = 1_000

export class WebhookDelivery {
  readonly lease: LeasedWebhook['lease']
  readonly ownerId: string
  private readonly webhook: Webhook
  private readonly dependencies: DeliveryDependencies
  private progress: WebhookProgress
  private filter: EventFilter
  /** Attempts since the last save, the latest of each event. */
  private unsaved: Delivery[] = []
  private savedAtMs: number
  private isChanged = false
  private leasedUntilMs: number
  private rightsUntilMs: number
  private isOver = false
  private isLost = false
  private disableReason: DisableReason | null = null
  private wake: (() => void) | undefined
  /** The time of the event that waits to be accepted, or of the first read that failed; null: nothing waits. */
  private waitingSinceMs: number | null = null

  /** `claimedAtMs`: on the monotonic clock, before the claim was sent. */
  constructor(
    { webhook, progress, lease }: LeasedWebhook,
    filter: EventFilter,
    claimedAtMs: number,
    dependencies: DeliveryDependencies,
  ) {
    this.webhook = webhook
    this.ownerId = webhook.ownerId
    this.progress = progress
    this.lease = lease
    this.filter = filter
    this.dependencies = dependencies
    this.savedAtMs = claimedAtMs
    this.leasedUntilMs = claimedAtMs + LEASE_MS
    this.rightsUntilMs = claimedAtMs + LEASE_MS
  }

  /** `sentAtMs`: on the monotonic clock, before the renewal was sent and after the rights were read. */
  renewed(sentAtMs: number, filter: EventFilter): void {
    this.leasedUntilMs = Math.max(this.leasedUntilMs, sentAtMs + LEASE_MS)
    this.rightsUntilMs = sentAtMs + LEASE_MS
    this.filter = filter
  }

  /** No further event is sent; the message in flight is not interrupted. `reason`: the webhook is disabled. */
  stop(reason: DisableReason | null = null): void {
    this.isOver = true
    this.disableReason ??= reason
    this.wake?.()
  }

  isFailing(): boolean {
    return this.progress.failures > 0
  }

  /** How long ago the event happened that waits to be accepted. */
  lagMs(): number {
    return this.waitingSinceMs === null ? 0 : Math.max(0, this.dependencies.clock.now() - this.waitingSinceMs)
  }

  /** Ends once it was stopped, or has lost its lease. */
  async run(): Promise<void> {
    const { clock, sender } = this.dependencies
    try {
      while (this.mayGoOn()) {
        await this.sleep(this.progress.nextAttemptAtMs - clock.now())
        if (this.mayGoOn()) await this.deliverPage()
      }
      if (!this.isLost) await this.end()
    } catch (error) {
      // The outcome of a write may be unknown: the lease ends by itself.
      this.stop()
      this.warn('webhook_delivery_broken_off', error)
    } finally {
      sender.forget(this.connection())
    }
  }

  private async end(): Promise<void> {
    const { clock, log, metrics } = this.dependencies
    const reason = this.disableReason
    if (reason === null) return void (await this.save({ release: true }))
    const webhook = { ...this.webhook, disabled: { atMs: clock.now(), reason } }
    if (!(await this.save({ webhook, release: true }))) return
    metrics?.disabled(reason)
    log.warn('webhook_disabled', { webhook_id: webhook.webhookId, reason })
  }

  private async deliverPage(): Promise<void> {
    const { clock, feed } = this.dependencies
    const readAtMs = clock.monotonic()
    const page = await this.read()
    if (page === undefined) return
    const delivered = this.progress.delivered
    for (const event of page.events) {
      const sinceMs = clock.monotonic() - this.savedAtMs
      const isDue = this.unsaved.length > 0 && sinceMs >= SAVE_EVERY_MS
      if (isDue || this.unsaved.length >= KEPT_DELIVERIES) await this.save()
      if (!this.mayGoOn()) return
      const isOld = clock.monotonic() - readAtMs >= FRESH_MS && this.progress.delivered > delivered
      if (!this.filter(event)) this.leaveOut(event)
      else if (isOld || !(await this.deliver(event))) return
    }
    this.moveTo(page.next)
    const sinceMs = clock.monotonic() - this.savedAtMs
    const isOverdue = this.isChanged && sinceMs >= SAVE_LEFT_OUT_EVERY_MS
    if (isOverdue || (page.atEnd && this.unsaved.length > 0)) await this.save()
    if (page.atEnd && this.mayGoOn()) await Promise.race([feed.interval(), this.untilStopped()])
  }

  /** Undefined: the read failed, and is to be repeated. */
  private async read() {
    const { clock, feed } = this.dependencies
    try {
      const page = await feed.read(this.progress.position)
      if (this.progress.failures === 0) this.waitingSinceMs = null
      return page
    } catch (error) {
      if (error instanceof EventPositionForeign) this.stop('position_lost')
      else {
        if (this.waitingSinceMs === null) this.warn('webhook_events_not_read', error)
        this.waitingSinceMs ??= clock.now()
        await this.sleep(READ_AGAIN_MS)
      }
      return undefined
    }
  }

  /** Failures of an event that is left out now say nothing about the next one. */
  private leaveOut({ position }: LedgerEvent): void {
    this.moveTo(position)
    if (this.progress.failures === 0) return
    this.progress = { ...this.progress, failures: 0, failingSinceMs: null }
    this.waitingSinceMs = null
  }

  /** False: the receiver did not accept it. */
  private async deliver(event: LedgerEvent): Promise<boolean> {
    const { clock, metrics, sender, show } = this.dependencies
    this.waitingSinceMs = event.timeMs ?? clock.now()
    const { type, body } = show(event)
    const { url, secrets } = this.webhook
    const target = { connection: this.connection(), url, secrets: signingSecrets(secrets, clock.now()) }
    const attempt = await sender.send(target, { id: event.id, body })
    const { error, latencyMs } = attempt
    metrics?.attempt(error ?? 'accepted', latencyMs)
    this.note(event.id, type, attempt)
    if (error !== null) {
      await this.failed(attempt)
      return false
    }
    const { delivered } = this.progress
    const accepted = { delivered: delivered + 1, failures: 0, failingSinceMs: null, nextAttemptAtMs: clock.now() }
    this.progress = { ...this.progress, ...accepted }
    this.moveTo(event.position)
    this.waitingSinceMs = null
    return true
  }

  private note(eventId: string, eventType: string, attempt: AttemptResult): void {
    const { delivered: number, failures } = this.progress
    const status = attempt.error === null ? 'delivered' : 'failing'
    const noted = { eventId, eventType, status, attempts: failures + 1, attempt } as const
    this.unsaved = this.unsaved.filter((one) => one.number !== number)
    this.unsaved.push({ number, atMs: this.dependencies.clock.now(), ...noted })
  }

  private async failed({ error, httpStatus }: AttemptResult): Promise<void> {
    const { clock, log, random } = this.dependencies
    const nowMs = clock.now()
    const failures = this.progress.failures + 1
    const failingSinceMs = this.progress.failingSinceMs ?? nowMs
    const nextAttemptAtMs = nextAttemptAt({ failures, failingSinceMs, nowMs }, random)
    this.progress = { ...this.progress, failures, failingSinceMs, nextAttemptAtMs }
    this.isChanged = true
    if (nowMs - failingSinceMs >= GIVE_UP_AFTER_MS) return this.stop('delivery_failed')
    const retryMs = nextAttemptAtMs - nowMs
    log.info('webhook_attempt_failed', {
      webhook_id: this.lease.webhookId,
      error,
      http_status: httpStatus,
      failures,
      retry_ms: retryMs,
    })
    await this.save()
  }

  private moveTo(position: string): void {
    if (position === this.progress.position) return
    this.progress = { ...this.progress, position }
    this.isChanged = true
  }

  /** False: the lease is lost. A delivery that has changed nothing and goes on needs no save. */
  private async save(more: Pick<SavedProgress, 'webhook' | 'release'> = {}): Promise<boolean> {
    const { clock, store } = this.dependencies
    const sentAtMs = clock.monotonic()
    const deliveries = this.unsaved
    this.unsaved = []
    this.isChanged = false
    const saved = await store.save(this.lease, { progress: this.progress, deliveries, ...more })
    this.savedAtMs = sentAtMs
    if (saved) this.leasedUntilMs = Math.max(this.leasedUntilMs, sentAtMs + LEASE_MS)
    else {
      this.isLost = true
      this.stop()
    }
    return saved
  }

  /** Not shared with an earlier delivery of the webhook, which may end later. */
  private connection(): string {
    return `${this.lease.webhookId} ${this.lease.number}`
  }

  private mayGoOn(): boolean {
    const nowMs = this.dependencies.clock.monotonic()
    return !this.isOver && nowMs < this.leasedUntilMs && nowMs < this.rightsUntilMs
  }

  private async sleep(delayMs: number): Promise<void> {
    if (delayMs <= 0 || this.isOver) return
    const { clock } = this.dependencies
    await new Promise<void>((resolve) => {
      const timer = clock.after(delayMs, resolve)
      this.wake = () => {
        timer.cancel()
        resolve()
      }
    })
  }

  private untilStopped(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve
    })
  }

  private warn(event: string, error: unknown): void {
    const reason = error instanceof Error ? error.name : 'unknown'
    this.dependencies.log.warn(event, { webhook_id: this.lease.webhookId, reason })
  }
}

/** The secrets that sign at this time; the current one is the first. */
export function signingSecrets({ current, previous }: Webhook['secrets'], nowMs: number): readonly string[] {
  return [current, ...previous.filter(({ untilMs }) => nowMs < untilMs).map(({ secret }) => secret)]
}
