/**
 * Delivers the events of one webhook, under a lease.
 *   L1. One event at a time: the next one is sent only after the receiver accepted this one. So each event arrives at least
 *       once, and the first arrivals are in the order of the log.
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
import type { Tracing } from '../ports/tracing.ts'
import type { Random } from '../ports/random.ts'
import type { WebhookSender } from '../ports/webhook-sender.ts'
import {
  type AttemptResult,
  type DisableReason,
  LEASE_MS,
  type LeasedWebhook,
  type Webhook,
  type WebhookStore,
} from '../ports/webhook-store.ts'
import { GIVE_UP_AFTER_MS, nextAttemptAt } from './backoff.ts'
import { type EventFeed, FRESH_MS, type TimedPage } from './event-feed.ts'
import { createPageReader, type PageReader } from './page-reader.ts'
import { ProgressRecord } from './progress-record.ts'

export interface ShownEvent {
  /** As it is shown. */
  readonly type: string
  /** Of the message. */
  readonly body: string
}

export interface DeliveryDependencies {
  readonly store: Pick<WebhookStore, 'save'>
  readonly feed: EventFeed
  readonly sender: WebhookSender
  readonly show: (event: LedgerEvent) => ShownEvent
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics?: WebhookMetrics
  /** undefined: tracing is off. */
  readonly tracing?: Tracing | undefined
}

export type EventFilter = (event: LedgerEvent) => boolean

/** After a read that failed. */
const READ_AGAIN_MS = 1_000

export class WebhookDelivery {
  readonly lease: LeasedWebhook['lease']
  readonly ownerId: string
  private readonly webhook: Webhook
  private readonly dependencies: DeliveryDependencies
  private readonly record: ProgressRecord
  private readonly pages: PageReader
  private filter: EventFilter
  /** The message of the event that is sent next, made while the receiver handles another one. */
  private prepared: { readonly event: LedgerEvent; readonly shown: ShownEvent } | undefined
  private leasedUntilMs: number
  private rightsUntilMs: number
  private isOver = false
  private isLost = false
  private disableReason: DisableReason | null = null
  private wake: (() => void) | undefined
  /** The time of the event that waits to be accepted, or of the first read that failed; null: nothing waits. */
  private waitingSinceMs: number | null = null

  /** `claimedAtMs`: on the monotonic clock, before the claim was sent. */
  constructor(leased: LeasedWebhook, filter: EventFilter, claimedAtMs: number, dependencies: DeliveryDependencies) {
    const { webhook, lease } = leased
    const { clock, feed, store } = dependencies
    this.webhook = webhook
    this.ownerId = webhook.ownerId
    this.lease = lease
    this.filter = filter
    this.dependencies = dependencies
    const onSaved = (saved: boolean, sentAtMs: number): void => this.saved(saved, sentAtMs)
    this.record = new ProgressRecord(leased, claimedAtMs, { store, clock, onSaved })
    this.pages = createPageReader(feed, clock)
    this.leasedUntilMs = claimedAtMs + LEASE_MS
    this.rightsUntilMs = claimedAtMs + LEASE_MS
  }

  /** `beganAtMs`: on the monotonic clock, before the rights were read and the lease was renewed. */
  renewed(beganAtMs: number, filter: EventFilter): void {
    this.leasedUntilMs = Math.max(this.leasedUntilMs, beganAtMs + LEASE_MS)
    this.rightsUntilMs = beganAtMs + LEASE_MS
    this.filter = filter
  }

  /** No further event is sent; the message in flight is not interrupted. `reason`: the webhook is disabled. */
  stop(reason: DisableReason | null = null): void {
    this.isOver = true
    this.disableReason ??= reason
    this.wake?.()
  }

  isFailing(): boolean {
    return this.record.progress.failures > 0
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
        await this.sleep(this.record.progress.nextAttemptAtMs - clock.now())
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
    if (reason === null) return void (await this.record.save({ release: true }))
    const webhook = { ...this.webhook, disabled: { atMs: clock.now(), reason } }
    if (!(await this.record.save({ webhook, release: true }))) return
    metrics?.disabled(reason)
    log.warn('webhook_disabled', { webhook_id: webhook.webhookId, reason })
  }

  private async deliverPage(): Promise<void> {
    const { feed } = this.dependencies
    const page = await this.read()
    if (page === undefined) return
    // The pause begins with the page, so that reads of a busy log follow each other at the same rate.
    const pause = page.atEnd ? feed.interval() : undefined
    if (!(await this.deliverEvents(page, pause))) return
    this.record.moveTo(page.next)
    await this.record.endPage(page.atEnd)
    if (pause !== undefined && this.mayGoOn()) await Promise.race([pause, this.untilStopped()])
  }

  /** False: it ended before the last event. The next page is read during the second half of this one. */
  private async deliverEvents({ events, next, readAtMs }: TimedPage, pause = Promise.resolve()): Promise<boolean> {
    const { clock } = this.dependencies
    const { delivered } = this.record.progress
    const half = Math.floor(events.length / 2)
    for (const [index, event] of events.entries()) {
      if (this.record.isDue()) await this.record.keepUp()
      if (!this.mayGoOn()) return false
      const isOld = clock.monotonic() - readAtMs >= FRESH_MS && this.record.progress.delivered > delivered
      if (index === half && !isOld) this.pages.readAhead(next, pause)
      if (!this.filter(event)) this.leaveOut(event)
      else if (isOld || !(await this.deliver(event, events[index + 1]))) return false
    }
    return true
  }

  /** Undefined: the read failed, and is to be repeated. */
  private async read(): Promise<TimedPage | undefined> {
    try {
      const page = await this.pages.read(this.record.progress.position)
      if (this.record.progress.failures === 0) this.waitingSinceMs = null
      return page
    } catch (error) {
      if (error instanceof EventPositionForeign) this.stop('position_lost')
      else {
        if (this.waitingSinceMs === null) this.warn('webhook_events_not_read', error)
        this.waitingSinceMs ??= this.dependencies.clock.now()
        await this.sleep(READ_AGAIN_MS)
      }
      return undefined
    }
  }

  /** Failures of an event that is left out now say nothing about the next one. */
  private leaveOut({ position }: LedgerEvent): void {
    this.record.moveTo(position)
    if (this.record.progress.failures === 0) return
    this.record.change({ failures: 0, failingSinceMs: null })
    this.waitingSinceMs = null
  }

  /** False: the receiver did not accept it. */
  private async deliver(event: LedgerEvent, following: LedgerEvent | undefined): Promise<boolean> {
    const { clock, metrics, sender, tracing } = this.dependencies
    this.waitingSinceMs = event.timeMs ?? clock.now()
    const { type, body } = this.shown(event)
    const { url, secrets } = this.webhook
    const target = { connection: this.connection(), url, secrets: signingSecrets(secrets, clock.now()) }
    const attempt = await sender.send(target, { id: event.id, body }, () => this.prepare(following))
    const { error, latencyMs } = attempt
    metrics?.attempt(error ?? 'accepted', latencyMs)
    if (tracing !== undefined) recordAttempt(tracing, attempt)
    this.record.note(event.id, type, attempt)
    if (error !== null) {
      await this.failed(attempt)
      return false
    }
    this.record.change({
      position: event.position,
      delivered: this.record.progress.delivered + 1,
      failures: 0,
      failingSinceMs: null,
      nextAttemptAtMs: clock.now(),
    })
    this.waitingSinceMs = null
    return true
  }

  private prepare(event: LedgerEvent | undefined): void {
    if (event === undefined || !this.filter(event)) return
    try {
      this.prepared = { event, shown: this.dependencies.show(event) }
    } catch {
      // It is shown again, and its failure reported, once it is due.
      this.prepared = undefined
    }
  }

  private shown(event: LedgerEvent): ShownEvent {
    const { prepared } = this
    this.prepared = undefined
    return prepared?.event === event ? prepared.shown : this.dependencies.show(event)
  }

  private async failed({ error, httpStatus }: AttemptResult): Promise<void> {
    const { clock, log, random } = this.dependencies
    const nowMs = clock.now()
    const failures = this.record.progress.failures + 1
    const failingSinceMs = this.record.progress.failingSinceMs ?? nowMs
    const nextAttemptAtMs = nextAttemptAt({ failures, failingSinceMs, nowMs }, random)
    this.record.change({ failures, failingSinceMs, nextAttemptAtMs })
    if (nowMs - failingSinceMs >= GIVE_UP_AFTER_MS) return this.stop('delivery_failed')
    const retryMs = nextAttemptAtMs - nowMs
    log.info('webhook_attempt_failed', {
      webhook_id: this.lease.webhookId,
      error,
      http_status: httpStatus,
      failures,
      retry_ms: retryMs,
    })
    await this.record.save()
  }

  private saved(saved: boolean, sentAtMs: number): void {
    if (saved) this.leasedUntilMs = Math.max(this.leasedUntilMs, sentAtMs + LEASE_MS)
    else {
      this.isLost = true
      this.stop()
    }
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

function recordAttempt(tracing: Tracing, { httpStatus, error, latencyMs }: AttemptResult): void {
  const trace = tracing.sample(undefined)
  if (trace === undefined) return
  const { traceId, spanId, parentSpanId } = trace
  const endedMs = tracing.nowMs()
  const work = { kind: 'webhook', status: httpStatus, error } as const
  tracing.record({ traceId, spanId, parentSpanId, startedMs: endedMs - latencyMs, endedMs, work })
}

/** The secrets that sign at this time; the current one is the first. */
export function signingSecrets({ current, previous }: Webhook['secrets'], nowMs: number): readonly string[] {
  return [current, ...previous.filter(({ untilMs }) => nowMs < untilMs).map(({ secret }) => secret)]
}
