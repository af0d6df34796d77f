/**
 * How far a webhook has come, and what is stored of it. Invariant L2 of the delivery, and:
 *   R1. Saves follow each other: none can store an earlier position after a later one.
 *   R2. While events are accepted, `keepUp` begins a save every `SAVE_EVERY_MS`. Deliveries go on beside it until the
 *       last stored state is `SAVE_AT_LATEST_MS` old.
 *   R3. After a failed save nothing more is stored: its outcome may be unknown.
 */
import type { Clock } from '../ports/clock.ts'
import {
  type AttemptResult,
  type Delivery,
  KEPT_DELIVERIES,
  type LeasedWebhook,
  type SavedProgress,
  type WebhookProgress,
  type WebhookStore,
} from '../ports/webhook-store.ts'

export interface RecordDependencies {
  readonly store: Pick<WebhookStore, 'save'>
  readonly clock: Clock
  /** `sentAtMs`: on the monotonic clock, before the save was sent. `saved`: false if the lease is lost. */
  readonly onSaved: (saved: boolean, sentAtMs: number) => void
}

const SAVE_EVERY_MS = 250
const SAVE_AT_LATEST_MS = 1_000
/** While events are only left out. */
const SAVE_LEFT_OUT_EVERY_MS = 30_000

export class ProgressRecord {
  private readonly lease: LeasedWebhook['lease']
  private readonly dependencies: RecordDependencies
  private current: WebhookProgress
  /** Attempts since the last save, the latest of each event. */
  private unsaved: Delivery[] = []
  private isChanged = false
  private saving: Promise<boolean> | undefined
  private failure: { readonly error: unknown } | undefined
  /** When the last save that succeeded was sent, or the claim, on the monotonic clock. */
  private savedAtMs: number
  /** When the last save was sent, on the monotonic clock. */
  private sentAtMs = -Infinity

  constructor({ progress, lease }: LeasedWebhook, claimedAtMs: number, dependencies: RecordDependencies) {
    this.current = progress
    this.lease = lease
    this.savedAtMs = claimedAtMs
    this.dependencies = dependencies
  }

  get progress(): WebhookProgress {
    return this.current
  }

  change(changes: Partial<WebhookProgress>): void {
    this.current = { ...this.current, ...changes }
    this.isChanged = true
  }

  moveTo(position: string): void {
    if (position !== this.current.position) this.change({ position })
  }

  /** Notes an attempt at the next event. */
  note(eventId: string, eventType: string, attempt: AttemptResult): void {
    const { delivered: number, failures } = this.current
    const status = attempt.error === null ? 'delivered' : 'failing'
    const atMs = this.dependencies.clock.now()
    if (this.unsaved.at(-1)?.number === number) this.unsaved.pop()
    if (this.unsaved.length >= KEPT_DELIVERIES) this.unsaved.shift()
    this.unsaved.push({ number, eventId, eventType, status, attempts: failures + 1, atMs, attempt })
  }

  /** Between two events: whether `keepUp` is to be called. */
  isDue(): boolean {
    return this.unsaved.length > 0 && this.sinceMs() >= SAVE_EVERY_MS
  }

  /** R2. Rejects with the failure of a save. */
  async keepUp(): Promise<void> {
    this.check()
    const saving = this.saving ?? this.begin({})
    if (this.sinceMs() >= SAVE_AT_LATEST_MS) await saving
  }

  /** At the end of a page. At the end of the log what was accepted is stored now, or at the end of one of the next reads. */
  async endPage(isAtEnd: boolean): Promise<void> {
    const isPaused = this.dependencies.clock.monotonic() - this.sentAtMs >= SAVE_EVERY_MS
    const isIdle = isAtEnd && isPaused && this.unsaved.length > 0
    if (isIdle || (this.isChanged && this.sinceMs() >= SAVE_LEFT_OUT_EVERY_MS)) await this.save()
  }

  /** False: the lease is lost. */
  async save(more: Pick<SavedProgress, 'webhook' | 'release'> = {}): Promise<boolean> {
    await this.saving
    this.check()
    return this.begin(more)
  }

  private check(): void {
    if (this.failure !== undefined) throw this.failure.error
  }

  private sinceMs(): number {
    return this.dependencies.clock.monotonic() - this.savedAtMs
  }

  private begin(more: Pick<SavedProgress, 'webhook' | 'release'>): Promise<boolean> {
    const saving = this.store(more)
    this.saving = saving
    const ended = (): void => {
      if (this.saving === saving) this.saving = undefined
    }
    saving.then(ended, (error: unknown) => {
      this.failure = { error }
      ended()
    })
    return saving
  }

  private async store(more: Pick<SavedProgress, 'webhook' | 'release'>): Promise<boolean> {
    const { clock, store, onSaved } = this.dependencies
    const sentAtMs = clock.monotonic()
    this.sentAtMs = sentAtMs
    const deliveries = this.unsaved
    this.unsaved = []
    this.isChanged = false
    const saved = await store.save(this.lease, { progress: this.current, deliveries, ...more })
    this.savedAtMs = sentAtMs
    onSaved(saved, sentAtMs)
    return saved
  }
}
