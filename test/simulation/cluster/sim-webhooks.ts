/**
 * The webhook of the simulated cluster: production deliveries on the edges, over simulated statements, and a receiver that
 * fails one time in five. Edges lose their connection to the database for a while. An administrator enables the webhook if
 * its position was lost, and lets it send all events again.
 */
import { WHOLE_SCOPE } from '../../../actors/account-scope.ts'
import { EventsUnavailable, type LedgerEvent, type LedgerEvents } from '../../../runtime/ports/ledger-events.ts'
import type { Log } from '../../../runtime/ports/log.ts'
import type { WebhookSender } from '../../../runtime/ports/webhook-sender.ts'
import { type AttemptResult, type WebhookStore, WebhookStoreUnavailable } from '../../../runtime/ports/webhook-store.ts'
import { createEventFeed } from '../../../runtime/webhooks/event-feed.ts'
import { WebhookDeliverer } from '../../../runtime/webhooks/webhook-deliverer.ts'
import { createMemoryWebhookStore, type MemoryWebhookState } from '../../support/memory/webhook-store-memory.ts'
import type { Breaks } from '../breaks.ts'
import { EventChecker } from '../invariants/events.ts'
import type { Demand } from '../invariants/messages.ts'
import type { SimProcess } from '../kernel/kernel-process.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { createSimClock } from '../kernel/sim-clock.ts'
import { createSimRandom } from '../kernel/sim-random.ts'
import type { SimDatabase } from '../store/database.ts'
import { EdgeStatements, LATE_MS, LATE_SHARE } from '../store/edge-statements.ts'
import { createSimLedgerEvents, positionIn } from '../store/ledger-events.ts'

const WEBHOOK_ID = 'whk_00000000000000000000000001'
const FAILED_SHARE = 0.2
const ACCEPTED: AttemptResult = { httpStatus: 204, error: null, latencyMs: 0 }
const FAILED: AttemptResult = { httpStatus: 500, error: 'status', latencyMs: 0 }
/** Shares of the seeds with a webhook for all events, and for transactions only. */
const KINDS = ['none', 'all', 'all', 'transactions'] as const
const SEND_TIMEOUT_MS = 10_000
const LEASE_STEP = 2 ** 20
const ADMINISTRATOR_MS = { from: 100, to: 3_000 }

export interface SimWebhooksOptions {
  readonly kernel: Kernel
  readonly database: SimDatabase
  readonly ledgerId: string
  readonly breaks: Breaks
  readonly demand: Demand
}

export class SimWebhooks {
  readonly checker: EventChecker
  private readonly options: SimWebhooksOptions
  private readonly events: LedgerEvents
  private readonly random
  private readonly schedule
  private readonly kind: (typeof KINDS)[number]
  private readonly statements: EdgeStatements
  /** Process and number of the latest lease. */
  private readonly holders = new WeakMap<MemoryWebhookState, string>()

  constructor(options: SimWebhooksOptions) {
    const { kernel, database, ledgerId, demand } = options
    this.options = options
    this.events = createSimLedgerEvents(database, ledgerId)
    this.checker = new EventChecker(demand, database, this.events)
    this.random = kernel.random.fork('webhooks')
    this.schedule = kernel.beside('webhooks')
    this.statements = new EdgeStatements({ database, random: this.random, schedule: this.schedule, name: 'webhook' })
    this.kind = this.random.pick(KINDS)
    const secrets = { current: 'whsec_', previous: [] }
    const terms = { types: [], accountId: null, description: null, secrets, disabled: null }
    const webhook = { webhookId: WEBHOOK_ID, ownerId: 'client', url: '', createdAtMs: kernel.wallMs(), ...terms }
    void this.store.create(webhook, this.start())
  }

  /** Delivers on this edge until its process ends. */
  deliverOn(edge: SimProcess, log: Log): void {
    const { breaks } = this.options
    if (this.kind === 'none') return
    const process = edge.beside(this.schedule)
    const clock = createSimClock(process, this.random)
    const read: LedgerEvents['read'] = async (...page) => {
      const found = await this.statements.ask(process, 'read', EventsUnavailable, () => this.events.read(...page))
      this.checker.seen(found)
      return found
    }
    const call = <T>(label: string, run: () => Promise<T>): Promise<T> =>
      this.statements.ask(process, label, WebhookStoreUnavailable, run, label === 'save')
    const sender = this.senderOf(process)
    const deliverer = new WebhookDeliverer({
      store: {
        claim: (...claim) => call('claim', () => this.claim(process, claim)),
        renew: (leases) => call('renew', () => this.store.renew(leases)),
        save: (...saved) => call('save', () => this.save(process, saved)),
      },
      feed: createEventFeed(breaks.events?.({ ...this.events, read }) ?? { read }, clock),
      sender: breaks.sender?.(sender) ?? sender,
      show: ({ name, id }) => ({ type: name, body: id }),
      clock,
      random: createSimRandom(this.random, process.id),
      log,
      owners: { refresh: () => Promise.resolve(), scopeOf: () => Promise.resolve(WHOLE_SCOPE) },
      filterOf: () => this.selects,
      holder: process.id,
    })
    deliverer.start()
    this.statements.cutLater(process)
  }

  /** Ends all faults but those of the receiver. */
  heal(): void {
    this.statements.heal()
  }

  /** Whether the receiver has all events, and every commit has ended. */
  isDone(): boolean {
    const { events } = this.options.database.rows
    const wanted = this.kind === 'none' ? 0 : events.size(this.kind === 'transactions')
    return !events.isWaiting() && this.checker.accepted.size >= wanted
  }

  /** `attested`: events of attestations that were replied to. */
  atEnd(attested: ReadonlySet<string>): Promise<void> {
    return this.checker.atEnd(this.selects, attested)
  }

  private readonly selects = ({ name }: LedgerEvent): boolean =>
    this.kind === 'all' || (this.kind === 'transactions' && name.startsWith('transaction.'))

  private get store(): WebhookStore {
    const { kernel, database } = this.options
    return createMemoryWebhookStore(
      database.webhooks,
      { now: kernel.wallMs },
      () => 1 + this.random.integer(LEASE_STEP),
    )
  }

  /** Before the first event. */
  private start(): string {
    return positionIn(this.options.database, { xid: '0', offset: 0 })
  }

  private async claim(process: SimProcess, claim: Parameters<WebhookStore['claim']>): Promise<Claimed> {
    const { kernel, database } = this.options
    const claimed = await this.store.claim(...claim)
    for (const { lease, progress } of claimed) {
      const before = this.holders.get(database.webhooks)
      if (before !== undefined && !before.startsWith(`${process.name}#`)) kernel.count('webhook:taken_over')
      if (!progress.position.endsWith('.0.0')) kernel.count('webhook:resumed')
      this.holders.set(database.webhooks, `${process.id} ${lease.number}`)
    }
    return claimed
  }

  private async save(process: SimProcess, [lease, saved]: Parameters<WebhookStore['save']>): Promise<boolean> {
    const { kernel, database, breaks } = this.options
    const state = database.webhooks
    const stored = state.webhooks.get(WEBHOOK_ID)
    const before = stored?.stored.progress.position ?? ''
    const used = breaks.database === 'webhookFence' ? { ...lease, number: stored?.lease ?? 0 } : lease
    const isStored = await this.store.save(used, saved)
    if (!isStored) kernel.count('webhook:save_fenced')
    else {
      const after = saved.progress.position
      this.checker.saved({ by: `${process.id} ${lease.number}`, holder: this.holders.get(state), before, after })
      if ((saved.webhook?.disabled ?? null) !== null) this.enableLater()
    }
    return isStored
  }

  private enableLater(): void {
    const { kernel, database } = this.options
    kernel.count('webhook:position_lost')
    const afterMs = this.random.between(ADMINISTRATOR_MS.from, ADMINISTRATOR_MS.to)
    this.schedule(afterMs, 'an administrator enables the webhook', () => {
      if (database.acceptance === null) return this.enableLater()
      const position = this.start()
      const fresh = { position, failures: 0, failingSinceMs: null, nextAttemptAtMs: kernel.wallMs() }
      return void this.store.change(WEBHOOK_ID, ({ webhook, progress }) => ({
        webhook: { ...webhook, disabled: null },
        progress: { ...progress, ...fresh },
      }))
    })
  }

  /** Messages arrive also after the end of their process. A receiver may fail after it has accepted. */
  private senderOf(process: SimProcess): WebhookSender {
    const { kernel, demand } = this.options
    return {
      mayConnect: () => true,
      forget: () => undefined,
      send: (_, { id, body }, onWritten) =>
        process.promise((resolve) => {
          demand(body === id, `E4: the message of ${id} has the content of ${body}`)
          onWritten?.()
          const isLate = this.random.chance(this.statements.isFaulty ? LATE_SHARE : 0)
          const arrivesMs = isLate ? this.random.between(LATE_MS.from, LATE_MS.to) : this.statements.trip()
          const isFailed = arrivesMs > SEND_TIMEOUT_MS || this.random.chance(FAILED_SHARE)
          if (isFailed) kernel.count('webhook:delivery_failed')
          this.schedule(arrivesMs, 'a webhook message arrives', () => {
            if (isFailed && this.random.chance(0.5)) return
            if (this.checker.accepted.has(id)) kernel.count('webhook:accepted_again')
            this.checker.accepted.add(id)
          })
          const afterMs = Math.min(arrivesMs + this.statements.trip(), SEND_TIMEOUT_MS)
          process.later(afterMs, 'a receiver has replied', () => resolve(isFailed ? FAILED : ACCEPTED))
        }),
    }
  }
}

type Claimed = Awaited<ReturnType<WebhookStore['claim']>>
